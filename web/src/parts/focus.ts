/** Puts the cursor where one came to type: as the `ref` of a field, when it appears. */

export function focused(field: HTMLElement | null): void {
  field?.focus();
}
