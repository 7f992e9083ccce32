import { Http2ServerRequest, Http2ServerResponse, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { type Carried, type DistinctHeaders, distinctOf } from "../connections.ts";

/** Error of a body that ended early, as in HTTP/1.1. */
const CUT: NodeJS.ErrnoException = Object.assign(new Error("aborted"), { code: "ECONNRESET" });

/**
 * An HTTP/2 request that looks like an HTTP/1.1 one: its headers exclude pseudo headers, include `Host` and can be changed; a
 * body that is cut is an error, not a shorter body.
 */
export class Http2Request extends Http2ServerRequest implements Carried {
  readonly carrier: Socket | undefined;
  override readonly headers: IncomingHttpHeaders;
  override rawHeaders: string[];
  #distinct: DistinctHeaders | undefined;

  constructor(...args: ConstructorParameters<typeof Http2ServerRequest>) {
    super(...args);
    const [stream, headers, , rawHeaders] = args;
    this.carrier = (stream.session as Partial<Carried> | undefined)?.carrier;
    this.headers = plain(headers);
    this.rawHeaders = plainLines(rawHeaders, headers[":authority"]);
    stream.once("aborted", () => {
      if (!this.readableEnded && !this.destroyed) this.destroy(CUT);
    });
  }

  get headersDistinct(): DistinctHeaders {
    this.#distinct ??= distinctOf(this.rawHeaders);
    return this.#distinct;
  }

  /** As in HTTP/1.1, a client's disconnect needs no error listener. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    super._destroy(this.listenerCount("error") === 0 ? null : error, callback);
  }
}

/** Removes the pseudo headers, which `method` and `url` represent. */
function plain(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const found: IncomingHttpHeaders = Object.create(null);
  const authority = headers[":authority"];
  if (authority !== undefined) found.host = authority;
  for (const name in headers) if (name[0] !== ":") found[name] ??= headers[name];
  return found;
}

/** Returns the same as lines. A `Host` that differs from the authority stays, so that the request has two and is rejected. */
function plainLines(lines: readonly string[], authority: string | undefined): string[] {
  const found = authority === undefined ? [] : ["host", authority];
  for (let at = 0; at < lines.length; at += 2) {
    const [name = "", value = ""] = [lines[at], lines[at + 1]];
    if (name[0] !== ":" && !(name === "host" && value === authority)) found.push(name, value);
  }
  return found;
}

/** Reason to cut a response: the client sees its stream reset by an error, not ended. */
const ANSWER_CUT = new Error("the response was cut");

type Written = (error: Error) => void;

/** An HTTP/2 response that, like an HTTP/1.1 one, reports when it is destroyed, also to code that still writes to it. */
export class Http2Response extends Http2ServerResponse {
  static {
    // The types declare properties, which an accessor may not override. A disconnect is reported before its stream ends; Node
    // ends the stream by itself.
    Object.defineProperties(Http2Response.prototype, {
      destroyed: {
        get(this: Http2Response) {
          return this.stream.destroyed || this.stream.aborted;
        },
      },
      writableFinished: {
        get(this: Http2Response) {
          return this.stream.writableFinished && !this.stream.aborted;
        },
      },
    });
  }

  override destroy(error: Error = ANSWER_CUT): this {
    super.destroy(error);
    return this;
  }

  override write(chunk: string | Uint8Array, encoding?: BufferEncoding | Written, written?: Written): boolean {
    const done = typeof encoding === "function" ? encoding : written;
    if (this.destroyed) {
      if (done !== undefined) process.nextTick(done, ANSWER_CUT);
      return false;
    }
    return super.write(chunk, typeof encoding === "string" ? encoding : "utf8", done);
  }
}
