import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  isUpgraded,
  type Outgoing,
  type OutgoingUpgrade,
  type ResponseHeaders,
  type StreamedResponse,
  type UpgradedResponse,
  Upstream,
  type UpstreamOptions,
} from "@virtual-workspaces/transport";

/** Headers that a browser would attribute to this server. */
const OF_ORIGIN: ReadonlySet<string> = new Set([
  "set-cookie",
  "set-cookie2",
  "clear-site-data",
  "strict-transport-security",
  "alt-svc",
  "refresh",
  "location",
  "content-location",
]);

/** Security: a page of the target must not run scripts in this server's origin, with the browser's client certificate. */
const SANDBOX = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" };

/** Options of a {@link ForeignUpstream}. */
export interface ForeignUpstreamOptions extends UpstreamOptions {
  /** Name of the target in error messages: `the target of this mount`. */
  readonly what: string;
  /** Whether requests carry callers' own tokens, so that a 401 is about them. @default false */
  readonly asCaller?: boolean;
}

/**
 * Upstream that need not be trusted. Security: it strips cookies from requests, and browser-related headers from responses.
 * It neither follows nor forwards redirects, which would send clients, with their tokens for this server, anywhere.
 */
export class ForeignUpstream extends Upstream {
  readonly #what: string;
  readonly #asCaller: boolean;

  /** @throws as {@link Upstream} */
  constructor({ what, asCaller = false, ...options }: ForeignUpstreamOptions) {
    super(options);
    this.#what = what;
    this.#asCaller = asCaller;
  }

  override async stream(request: Outgoing): Promise<StreamedResponse> {
    return this.#passable(await super.stream(withoutCookies(request)));
  }

  override async upgrade(request: OutgoingUpgrade): Promise<StreamedResponse | UpgradedResponse> {
    const answer = await super.upgrade(withoutCookies(request));
    return isUpgraded(answer) ? { ...answer, headers: kept(answer.headers) } : this.#passable(answer);
  }

  async #passable(answer: StreamedResponse): Promise<StreamedResponse> {
    const { status, headers } = answer;
    if (this.#asCaller && status === 401) {
      await answer[Symbol.asyncDispose]();
      const message = `${this.#what} rejects your token, which was forwarded to it`;
      throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
    }
    if (status >= 300 && status < 400 && status !== 304) {
      await answer[Symbol.asyncDispose]();
      throw ApiError.badGateway(
        `${this.#what} answers with a redirect (${status}), which is not followed: configure its final URL`,
      );
    }
    return { ...answer, headers: kept(headers) };
  }
}

function kept(headers: ResponseHeaders): ResponseHeaders {
  const passed: Record<string, string | string[] | undefined> = {};
  for (const name in headers) if (!OF_ORIGIN.has(name)) passed[name] = headers[name];
  return Object.assign(passed, SANDBOX);
}

function withoutCookies<R extends Outgoing | OutgoingUpgrade>(request: R): R {
  const { headers = [] } = request;
  const isCookie = (at: number): boolean => headers[at]?.length === 6 && headers[at].toLowerCase() === "cookie";
  if (!headers.some((_, at) => at % 2 === 0 && isCookie(at))) return request;
  return { ...request, headers: headers.filter((_, at) => !isCookie(at - (at % 2))) };
}
