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

/** What is for the browser of whoever asks this server, and would be believed to be of this server. */
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

/** A page of the other server is none of this server's: its scripts would ask with the certificate that the browser has for this one. */
const SANDBOX = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" };

/** Which server, and how it is asked. */
export interface ForeignUpstreamOptions extends UpstreamOptions {
  /** What it is, for those who are told what it does: `the target of this mount`. */
  readonly what: string;
  /** Whether it is asked with the callers' own tokens: a 401 is about these then. @default false */
  readonly asCaller?: boolean;
}

/**
 * Another server, which need not be trusted: what it says for somebody's browser stays here, and so do the cookies that a
 * browser brings for this server. A redirect is neither followed nor passed on: it would send clients, with the token that is
 * for this server, wherever the target likes.
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
      const message = `${this.#what} does not know the token that you have brought, by which it is asked`;
      throw ApiError.forbidden({ resource: { group: "", resource: "" }, message });
    }
    if (status >= 300 && status < 400 && status !== 304) {
      await answer[Symbol.asyncDispose]();
      throw ApiError.badGateway(
        `${this.#what} answers with a redirect (${status}), which is not followed: name the place that it leads to`,
      );
    }
    return { ...answer, headers: kept(headers) };
  }
}

function kept(headers: ResponseHeaders): ResponseHeaders {
  return { ...Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ORIGIN.has(name))), ...SANDBOX };
}

function withoutCookies<R extends Outgoing | OutgoingUpgrade>(request: R): R {
  const { headers = [] } = request;
  const kept = headers.filter((_, at) => (headers[at - (at % 2)] ?? "").toLowerCase() !== "cookie");
  return { ...request, headers: kept };
}
