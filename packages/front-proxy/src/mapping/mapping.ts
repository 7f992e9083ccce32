import type { CallerHeaders } from "@virtual-workspaces/client/http";
import type { Credentials, UpstreamTls } from "@virtual-workspaces/transport";

/** What a path is served by (an entry of kcp's mapping file, `PathMapping`). */
export interface Mapping {
  /**
   * What URLs begin with, whole segments: `/services/apiexport`. `{cluster}` stands for one segment. `/clusters/` is special: where
   * its requests go says the index, and its backend says only as whom, and whom to trust. `/` has what no other path has.
   */
  readonly path: string;
  /**
   * Where requests go, with the path as it came behind that of the URL. Several URLs are servers that are as good as each other: those that
   * answer at `/readyz` are asked, each caller by one of them as long as it is there.
   */
  readonly backends: readonly string[];
  /** Whom to trust as these servers. */
  readonly tls?: UpstreamTls;
  /** The client certificate by which they know that this is a front proxy: without one they do not believe the headers. */
  readonly credentials?: Credentials;
  /** By which headers they are told who asks. @default `X-Remote-*` */
  readonly headers?: CallerHeaders;
}

/** The path that the index is for, to the letter as in kcp. */
export const CLUSTERS_PATH = "/clusters/";

/** @returns what is wrong with the URL of a server behind a path, and the remedy, if it is none */
export function checkBackend(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" && url.username + url.password + url.search + url.hash === "") return undefined;
  return `backend ${text}: give a URL that begins with https, without user, query and fragment`;
}
