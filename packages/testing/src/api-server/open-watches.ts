import type { ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { InterceptedRequest } from "@virtual-workspaces/framework/server";
import { isMatch, type RequestMatch } from "./request-match.ts";

/**
 * How a watch ends: `close` without an error, as at its timeout; `expired` with an ERROR event of code 410, after which clients
 * list again; `disconnect` with the connection.
 */
export type WatchEnd = "close" | "expired" | "disconnect";

interface OpenWatch {
  readonly subject: Required<RequestMatch>;
  readonly request: InterceptedRequest;
}

/** Watches of clients that are open. */
export class OpenWatches {
  readonly #open = new Set<OpenWatch>();

  add(watch: OpenWatch): void {
    this.#open.add(watch);
    watch.request.res.once("close", () => this.#open.delete(watch));
  }

  /** Ends watches. @returns their number */
  end(match: RequestMatch, how: WatchEnd): number {
    return [...this.#open].filter(({ subject, request }) => isMatch(subject, match) && end(request, how)).length;
  }
}

/** Message of Kubernetes for a version that the history no longer has. */
export const TOO_OLD = "too old resource version";

function end(request: InterceptedRequest, how: WatchEnd): boolean {
  if (how !== "disconnect") return request.endWatch(how === "expired" ? ApiError.expired(TOO_OLD) : undefined);
  cut(request.res);
  return true;
}

/** Answers a request for a watch with a stream that has only the error, as Kubernetes does. @returns `true` */
export function answerWatch(res: ServerResponse, error: ApiError): true {
  res.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-cache, private" });
  res.end(errorEvent(error));
  return true;
}

function errorEvent({ status }: ApiError): string {
  return `${JSON.stringify({ type: "ERROR", object: status })}\n`;
}

/** Cuts the connection of a response. Over HTTP/2 that ends all requests of the session. @returns `true` */
export function cut(res: ServerResponse): true {
  const { stream } = res as { readonly stream?: { readonly session?: { destroy(): void } } };
  if (stream?.session !== undefined) stream.session.destroy();
  else res.destroy();
  return true;
}
