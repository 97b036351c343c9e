/** Passkeys between the node and the browser: what one says in base64, the other has as bytes. */

/** Whether this page could make or use one: an address in numbers cannot. */
export function canUsePasskeys(): boolean {
  if (typeof PublicKeyCredential !== "function") {
    return false;
  }
  return location.hostname === "localhost" || /\.[a-z][a-z0-9-]*$/i.test(location.hostname);
}

interface Described {
  readonly id: string;
  readonly type: "public-key";
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: PublicKeyCredentialRpEntity;
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly pubKeyCredParams: PublicKeyCredentialParameters[];
  readonly timeout?: number;
  readonly excludeCredentials?: readonly Described[];
  readonly authenticatorSelection?: AuthenticatorSelectionCriteria;
}

export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout?: number;
  readonly userVerification?: UserVerificationRequirement;
}

/** Asks the person for a finger or a face, and makes a passkey. */
export async function makePasskey(options: CreationOptions): Promise<object> {
  const made = await navigator.credentials.create({
    publicKey: {
      rp: options.rp,
      pubKeyCredParams: options.pubKeyCredParams,
      challenge: bytes(options.challenge),
      user: { ...options.user, id: bytes(options.user.id) },
      ...(options.timeout ? { timeout: options.timeout } : {}),
      ...(options.authenticatorSelection ? { authenticatorSelection: options.authenticatorSelection } : {}),
    },
  });
  const credential = made as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  return described(credential, {
    clientDataJSON: text(response.clientDataJSON),
    attestationObject: text(response.attestationObject),
  });
}

/** Lets the person choose one of those that this browser has for the node, and proves it. */
export async function provePasskey(options: RequestOptions): Promise<object> {
  const found = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(options.challenge),
      rpId: options.rpId,
      userVerification: options.userVerification ?? "required",
      ...(options.timeout ? { timeout: options.timeout } : {}),
    },
  });
  const credential = found as PublicKeyCredential;
  const response = credential.response as AuthenticatorAssertionResponse;
  return described(credential, {
    clientDataJSON: text(response.clientDataJSON),
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature),
    userHandle: response.userHandle ? text(response.userHandle) : null,
  });
}

function described({ id, rawId, type }: PublicKeyCredential, response: object): object {
  return { id, rawId: text(rawId), type, response };
}

function bytes(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}

function text(data: ArrayBuffer): string {
  const letters = Array.from(new Uint8Array(data), (one) => String.fromCharCode(one)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
