import { computed, effect, signal, untracked } from "@preact/signals";
import { texts } from "../texts.ts";
import { isActing, setActing } from "./acting-text.ts";
import { asStatusError, request, type StatusError, unauthorizedAnswers } from "./client.ts";
import { endSources } from "./shared.ts";

export interface User {
  readonly username: string;
  readonly groups?: readonly string[];
}

/** The session of this browser: unknown until the server has answered once. */
export type Session =
  | { readonly state: "unknown"; readonly error?: StatusError }
  | {
      readonly state: "signed-out";
      /** Why there is no session, if the user does not know it. */
      readonly notice?: string;
      /** Path of the workspace of the session that has ended: "" if it was one of the whole server. */
      readonly workspace?: string;
    }
  | {
      readonly state: "signed-in";
      readonly user: User;
      /** User as whom this tab acts. */
      readonly acting?: User;
      /** Path of the only workspace that accepts the user's token. */
      readonly workspace?: string;
    };

const PATH = "console/session";

export const session = signal<Session>({ state: "unknown" });

/** Path of the only workspace of this session; undefined for a session of the whole server. */
export const onlyWorkspace = computed(() =>
  session.value.state === "signed-in" ? session.value.workspace : undefined,
);

interface SessionAnswer {
  readonly user: User;
  readonly acting?: User;
  readonly workspace?: string;
}

/** Reads the session that the cookie names, and as whom this tab acts. */
export async function readSession(): Promise<void> {
  try {
    const { user, acting, workspace } = await request<SessionAnswer>(PATH);
    // What another session has sealed has no effect in this one.
    if (acting === undefined) setActing(undefined);
    session.value = {
      ...{ state: "signed-in", user },
      ...(acting !== undefined && { acting }),
      ...(workspace !== undefined && { workspace }),
    };
  } catch (error) {
    const status = asStatusError(error);
    const isEnded = isAbout(status, "sessions");
    const hasEnded = session.peek().state === "signed-in" || isEnded;
    if (status.code === 401)
      showSignedOut(
        hasEnded ? texts.signIn.ended : undefined,
        isEnded ? (status.status.details?.name ?? "") : undefined,
      );
    else session.value = { state: "unknown", error: status };
  }
}

/** Whether an error is about sessions, or about one-time links: the details of its Status say so. */
const isAbout = ({ status }: StatusError, kind: "sessions" | "links"): boolean => status.details?.kind === kind;

/** Tells the other tabs of this browser that the session has begun or ended: they share its cookie. */
const changes = new BroadcastChannel("virtual-workspaces-console");
changes.onmessage = ({ data }) => {
  if (data === "signed in") void beginAgain();
  else showSignedOut(texts.signIn.signedOut);
};

type Credential =
  /** `workspace`: path of a workspace whose type may name the issuer of the token. */
  | { readonly token: string; readonly workspace?: string }
  /** Code of a one-time link. `replace`: also if another user is signed in. */
  | { readonly code: string; readonly replace?: boolean };

/** Begins a session. Throws a StatusError. */
export async function signIn(credential: Credential): Promise<void> {
  await request(PATH, { method: "POST", body: credential });
  changes.postMessage("signed in");
  await beginAgain();
}

/** A one-time link of another user than the one who is signed in, until the user has chosen. */
export interface OtherLink {
  readonly code: string;
  /** User of the link. */
  readonly username: string;
}

export const otherLink = signal<OtherLink | undefined>(undefined);

/** Makes this tab act as another user. Throws a StatusError. Each request is authorized by the server. */
export async function beginActing(user: User): Promise<void> {
  const { acting } = await request<{ readonly acting: string }>("console/acting", { method: "POST", body: user });
  endSources();
  setActing(acting);
  await readSession();
}

/** Makes this tab act as the signed-in user again. */
export async function endActing(): Promise<void> {
  await beginAgain();
}

/** Forgets what has been read, and for whom. */
async function beginAgain(): Promise<void> {
  setActing(undefined);
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

/** Leads to an issuer, which leads back. @param workspace path of a workspace whose type may name the issuer, or "" */
export function signInAt({ path }: Issuer, workspace: string): void {
  sessionStorage.setItem(AFTER, location.hash);
  const page = new URL(".", document.baseURI).href;
  const query = new URLSearchParams({ page, ...(workspace !== "" && { workspace }) });
  location.assign(`${page}${path}?${query}`);
}

/** Failures of a sign-in at an issuer, as the server names them. */
const FAILURES = ["expired", "denied", "failed", "rejected"] as const;

/** Text about the failure with which an issuer has led back, if any. Shows the page from which the user left. */
function backFromIssuer(): string | undefined {
  const failure = FAILURES.find((one) => location.hash === `#sign-in=${one}`);
  const hash = sessionStorage.getItem(AFTER);
  sessionStorage.removeItem(AFTER);
  if (hash !== null && failure === undefined) changes.postMessage("signed in");
  if (hash) location.replace(hash);
  else if (failure !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return failure === undefined ? undefined : texts.signIn.issuer[failure];
}

export async function signOut(): Promise<void> {
  await request(PATH, { method: "DELETE" }).catch(() => undefined);
  changes.postMessage("signed out");
  showSignedOut(texts.signIn.signedOut);
}

/** @param ended path of the workspace of the session that has ended, by default of the one that is shown */
function showSignedOut(notice?: string, ended = endedWorkspace()): void {
  setActing(undefined);
  endSources();
  session.value = {
    state: "signed-out",
    ...(notice !== undefined && { notice }),
    ...(ended !== undefined && { workspace: ended }),
  };
}

/** Returns the `workspace` of a session that ends now, or has ended. */
function endedWorkspace(): string | undefined {
  const { value } = session;
  if (value.state === "unknown") return undefined;
  return value.workspace ?? (value.state === "signed-in" ? "" : undefined);
}

/** The server has rejected a request of this session. */
function onUnauthorized(): void {
  if (session.peek().state !== "signed-in") return;
  // The session may be another one by now, which does not act as that user.
  if (isActing()) void beginAgain();
  // Other workspaces do not know the user, but the session goes on.
  else if (onlyWorkspace.peek() !== undefined) void checkSession();
  else showSignedOut(texts.signIn.ended);
}

let isChecking = false;

/** Reads the session again, once at a time: its own answer may be a 401, too. */
async function checkSession(): Promise<void> {
  if (isChecking) return;
  isChecking = true;
  await readSession();
  isChecking = false;
}

/** Begins with the code of the address, or else with the session of this browser. A link that is pasted later signs in, too. */
export async function beginSession(): Promise<void> {
  effect(() => {
    if (unauthorizedAnswers.value > 0) untracked(onUnauthorized);
  });
  addEventListener("hashchange", () => void signInByAddress());
  const failure = backFromIssuer();
  if (failure !== undefined) showSignedOut(failure);
  else if (!(await signInByAddress())) await readSession();
}

/** Signs in with the code of the address, and removes it from the address first. @returns whether there is one */
async function signInByAddress(): Promise<boolean> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null || location.hash.startsWith("#/")) return false;
  history.replaceState(null, "", location.pathname + location.search);
  await signIn({ code }).catch((error: unknown) => notByLink(code, asStatusError(error)));
  return true;
}

/** The server has not begun the session of a link. */
async function notByLink(code: string, error: StatusError): Promise<void> {
  await readSession();
  const isOther = error.code === 409;
  if (session.value.state === "signed-in") {
    if (isOther) otherLink.value = { code, username: error.status.details?.name ?? "" };
    return;
  }
  // The token of the session in the cookie is no longer valid: there is nothing to replace.
  const failure = isOther ? await signIn({ code, replace: true }).catch(asStatusError) : error;
  if (failure === undefined) return;
  showSignedOut(isAbout(failure, "links") ? texts.signIn.usedLink : failure.message);
}
