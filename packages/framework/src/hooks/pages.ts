import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Authenticator } from "../authn/authenticator.ts";
import { checkPanel, checkPanels } from "../panel/check-panel.ts";
import type { Panel, ServedPanel } from "../panel/panel.ts";
import type { User } from "../request/user.ts";
import { templateOf, type VirtualWorkspace } from "../virtual-workspace.ts";

/** Request for {@link Pages}: not authenticated. */
export interface PageRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Path below the path of the pages, with its slash: `/session`; "" for that path itself. */
  readonly path: string;
  /** Query with its question mark, or "". */
  readonly search: string;
  /** Panels of the server: {@link Pages.panels}, and those of its virtual workspaces. The same list for all requests. */
  readonly panels: readonly ServedPanel[];
  /**
   * Authenticates the request by the server's authenticators, and then by {@link Pages.authentication}, as if it had this
   * `Authorization` header. Counts as an attempt of the client's address. May be called again after a 401.
   *
   * Security: a user whom only a view recognizes may have rights only there. Do not take the user for one of the server.
   *
   * @param at path of a view, `/clusters/root:shop`, whose authenticators are tried after the server's
   * @default no view
   * @throws ApiError 401, also for a caller whom the view takes for anonymous; 429 or 503
   */
  authenticate(authorization: string, at?: string): Promise<User>;
}

/** Header values that replace those of a request, and what follows its end. */
export interface PageCredentials {
  /** `Authorization`: `Bearer …`. @default unchanged */
  readonly authorization?: string;
  /** `Cookie`, without the cookie of the session; `undefined` removes the header. */
  readonly cookie: string | undefined;
  /**
   * Further headers, by names in lower case, such as `impersonate-user`: one line for each value, none removes the header.
   * @default unchanged
   */
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  /**
   * Called when the request begins, with a function that ends it: it cuts the connection, or the stream of HTTP/2. So the end of a
   * session ends its watches and WebSockets.
   * @returns a function that the server calls once the request has ended
   * @default requests end by themselves
   */
  opened?(end: () => void): () => void;
}

/**
 * Pages for people, such as a console, at one path of a server, with sessions in place of tokens.
 *
 * Security: the server answers this path without authentication, so the pages must contain nothing that needs it.
 */
export interface Pages {
  /** Path of the pages: one segment, `/console`. Requests below it belong to the pages too. */
  readonly path: string;
  /**
   * Authenticators of {@link PageRequest.authenticate}, for callers that the server's own do not recognize: for tokens that a front
   * proxy forwards to its upstreams.
   * @default none
   */
  readonly authentication?: readonly Authenticator[];
  /**
   * Returns authenticators for {@link PageRequest.authenticate} at a path of a view, which are tried before those of the view: for one
   * that forwards unknown callers to its upstreams.
   *
   * @param params of the path, such as `cluster`
   * @default none
   */
  authenticationAt?(params: Readonly<Record<string, string>>): readonly Authenticator[];
  /**
   * Panels that no virtual workspace of the server has: of views that other servers serve. `for` is required.
   * @default none
   */
  readonly panels?: readonly Panel[];
  /** Answers a request. An ApiError that it throws becomes a Status. */
  answer(request: PageRequest): void | Promise<void>;
  /**
   * Returns the credentials of a session, from the cookie of a request for anything but the pages. The server calls it before
   * authentication; `undefined` leaves the request unchanged.
   *
   * Security: browsers send cookies with requests that pages of other sites cause. Give credentials only to requests that your
   * own page has caused, and always take the session's cookie out, because mounts and views forward the others.
   *
   * @default no sessions
   */
  credentials?(headers: IncomingHttpHeaders): PageCredentials | undefined;
}

/**
 * Returns the panels of a server with pages.
 *
 * @throws Error on an invalid or duplicate panel, and on a file that does not exist
 */
export function panelsOf(
  { panels = [] }: Pages,
  virtualWorkspaces: readonly VirtualWorkspace[],
): readonly ServedPanel[] {
  const own = panels.map((panel) => {
    checkPanel(panel, "pages");
    if (panel.for === undefined)
      throw new Error(`panel "${panel.name}" of pages has no subject: set for, or add it to a virtual workspace`);
    return { ...panel, for: panel.for };
  });
  const brought = virtualWorkspaces.flatMap(({ name, panels: its = [] }) =>
    its.map((panel) => ({ ...panel, for: panel.for ?? { virtualWorkspace: name } })),
  );
  const all = [...own, ...brought];
  checkPanels(all);
  return all.map((panel) => {
    const { for: subject } = panel;
    const view = virtualWorkspaces.find(
      ({ name }) => "virtualWorkspace" in subject && subject.virtualWorkspace === name,
    );
    return view === undefined ? panel : { ...panel, path: templateOf(view) };
  });
}
