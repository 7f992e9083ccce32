// Server with the console, whose page is in the tests themselves.
import { createConsole } from "@virtual-workspaces/console";
import {
  authenticated,
  createServer,
  defineVirtualWorkspace,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import { testLog } from "../../../_setup/log.ts";
import { Note } from "../../../_support/note.ts";
import { whoami } from "../../../_support/whoami.ts";

export const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
/** Header of the page's requests. */
export const MARK = { "x-requested-with": "virtual-workspaces-console" };
/** Token of the user "long". */
export const LONG: string = "l".repeat(12_000);

interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Starts a server with notes and the console. The tokens of alice and bob are their names. */
export async function startConsole(
  options: Parameters<typeof createConsole>[0] = {},
  others: Partial<ServerOptions> = {},
) {
  const logged = testLog();
  const page = createConsole({ log: logged.log, ...options });
  const notes = Note.collection();
  const view = defineVirtualWorkspace({
    ...{ name: "notes", path: "/clusters/:cluster", authorize: authenticated() },
    resources: [Note.serve(notes)],
  });
  const users = {
    alice: { name: "alice", groups: ["staff"] },
    bob: { name: "bob" },
    [LONG]: { name: "long" },
    [LONG.slice(0, 9_000)]: { name: "fits" },
  };
  const server = createServer({
    virtualWorkspaces: [view, whoami()],
    authentication: [staticTokens(users)],
    log: logged.log,
    pages: page.pages,
    ...others,
  });
  const { url } = await server.listen({ port: 0 });
  const call = async (path: string, { body, ...init }: CallOptions = {}) => {
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { ...init, ...sent, redirect: "manual" });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : undefined };
  };
  /** Signs in; `cookie` is that of a session before. */
  const signIn = async (
    body: unknown,
    before?: string,
  ): Promise<{
    readonly status: number;
    readonly message?: string;
    readonly cookie: string;
    readonly set: readonly string[];
  }> => {
    const headers = { ...MARK, ...(before !== undefined && { cookie: before }) };
    const {
      status,
      headers: answered,
      body: answer,
    } = await call("/console/session", { method: "POST", headers, body });
    const set = answered.getSetCookie();
    const cookie = set
      .filter((line) => !line.includes("=;"))
      .map((line) => line.split(";", 1)[0])
      .join("; ");
    return { status, message: answer?.message, cookie, set };
  };
  const code = (token: string): string => new URL(page.link(url, token)).hash.slice("#code=".length);
  return { url, page, notes, call, signIn, code, logged, [Symbol.asyncDispose]: () => server.close() };
}
