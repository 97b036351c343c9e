/** Notifications are shown and listed one after the other, by the app's windows and by its service worker: a list that Chromium makes while a notification is being shown loses that notification. */

const LOCK = "farhand-notifications";
/** A window that is frozen while it lists must not keep a push from being shown. */
const LONGEST_WAIT_MILLISECONDS = 3000;

/** Runs it while nobody else shows or lists; after the longest wait, or in a browser without locks, in any case. */
export async function withNotifications<T>(act: () => Promise<T>): Promise<T> {
  const locks = (navigator as { readonly locks?: LockManager }).locks;
  if (!locks) return act();
  let begun = false;
  const options = { signal: AbortSignal.timeout(LONGEST_WAIT_MILLISECONDS) };
  try {
    return await locks.request(LOCK, options, () => {
      begun = true;
      return act();
    });
  } catch (error) {
    if (begun) throw error;
    return act();
  }
}
