import { effect, signal } from "@preact/signals";
import { texts } from "../texts.ts";
import { asStatusError, request, StatusError, unauthorizedAnswers } from "./client.ts";
import { endSources } from "./shared.ts";

export interface User {
  readonly username: string;
  readonly groups?: readonly string[];
}

/** The session of this browser: unknown until the server has answered once. */
export type Session =
  | { readonly state: "unknown"; readonly error?: StatusError }
  | { readonly state: "signed-out"; readonly error?: StatusError }
  | { readonly state: "signed-in"; readonly user: User };

const PATH = "console/session";

export const session = signal<Session>({ state: "unknown" });

/** Reads the session that the cookie names. */
export async function readSession(): Promise<void> {
  try {
    const { user } = await request<{ user: User }>(PATH);
    session.value = { state: "signed-in", user };
  } catch (error) {
    const status = asStatusError(error);
    session.value = status.code === 401 ? { state: "signed-out" } : { state: "unknown", error: status };
  }
}

/** Begins a session with a bearer token, or with the code of a one-time link. Throws a StatusError. */
export async function signIn(credential: { readonly token: string } | { readonly code: string }): Promise<void> {
  await request(PATH, { method: "POST", body: credential });
  endSources();
  await readSession();
}

/** An issuer at which users may sign in. */
export interface Issuer {
  readonly name: string;
  /** Path below the console. */
  readonly path: string;
}

/** Reads the issuers at which users may sign in; none if the server does not answer. */
export async function readIssuers(): Promise<readonly Issuer[]> {
  try {
    return (await request<{ issuers: readonly Issuer[] }>("console/issuers")).issuers;
  } catch {
    return [];
  }
}

/** Name in the storage of the tab: the hash of the page to show after a sign-in at an issuer. */
const AFTER = "after-sign-in";

/** Leads to an issuer, which leads back. */
export function signInAt({ path }: Issuer): void {
  sessionStorage.setItem(AFTER, location.hash);
  const page = new URL(".", document.baseURI).href;
  location.assign(`${page}${path}?page=${encodeURIComponent(page)}`);
}

/** Failures of a sign-in at an issuer, as the server names them. */
const FAILURES = ["expired", "denied", "failed", "rejected"] as const;

/** The error with which an issuer has led back, if any. Shows the page from which the user left. */
function backFromIssuer(): StatusError | undefined {
  const failure = FAILURES.find((one) => location.hash === `#sign-in=${one}`);
  const hash = sessionStorage.getItem(AFTER);
  sessionStorage.removeItem(AFTER);
  if (hash) location.replace(hash);
  else if (failure !== undefined) history.replaceState(null, "", location.pathname + location.search);
  if (failure === undefined) return undefined;
  return new StatusError({ kind: "Status", code: 401, reason: "Unauthorized", message: texts.signIn.issuer[failure] });
}

/** Tells the other tabs of this browser that the session has ended: their watches would go on. */
const ends = new BroadcastChannel("virtual-workspaces-console");
ends.onmessage = () => {
  endSources();
  session.value = { state: "signed-out" };
};

export async function signOut(): Promise<void> {
  await request(PATH, { method: "DELETE" }).catch(() => undefined);
  ends.postMessage("signed out");
  endSources();
  session.value = { state: "signed-out" };
}

/** Signs in with the code of the address, if there is one, and removes it from the address first. */
export async function beginSession(): Promise<void> {
  effect(() => {
    if (unauthorizedAnswers.value > 0 && session.peek().state === "signed-in") session.value = { state: "signed-out" };
  });
  const failure = backFromIssuer();
  if (failure !== undefined) {
    session.value = { state: "signed-out", error: failure };
    return;
  }
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null || location.hash.startsWith("#/")) return await readSession();
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await signIn({ code });
  } catch (error) {
    await readSession();
    if (session.value.state !== "signed-in") session.value = { state: "signed-out", error: asStatusError(error) };
  }
}
