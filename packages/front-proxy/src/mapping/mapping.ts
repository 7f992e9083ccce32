import type { CallerHeaders } from "@virtual-workspaces/client/http";
import type { Credentials, UpstreamTls } from "@virtual-workspaces/transport";

/** Mapping of a path to servers (an entry of kcp's mapping file, or a `PathMapping`). */
export interface Mapping {
  /**
   * Prefix of URL paths, in whole segments: `/services/apiexport`. `{cluster}` stands for one segment. `/clusters/` is
   * special: the index chooses the shard, and its backend only sets credentials and TLS. `/` takes all paths that no other
   * mapping has.
   */
  readonly path: string;
  /**
   * Target URLs; the proxy appends the unchanged path. Several URLs are equal servers: the proxy uses those that are ready at
   * `/readyz`, and keeps each caller on one of them while it is ready.
   */
  readonly backends: readonly string[];
  /** Trust in the certificates of these servers. */
  readonly tls?: UpstreamTls;
  /** Client certificate that identifies the front proxy. Servers ignore the identity headers of a proxy without one. */
  readonly credentials?: Credentials;
  /** Headers that identify the caller. @default `X-Remote-*` */
  readonly headers?: CallerHeaders;
}

/** Path of the index, exactly as in kcp. */
export const CLUSTERS_PATH = "/clusters/";

/** Checks the URL of a backend. @returns an error with its remedy, or `undefined` for a valid URL */
export function checkBackend(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" && url.username + url.password + url.search + url.hash === "") return undefined;
  return `invalid backend "${text}": use an https URL without user, query and fragment`;
}
