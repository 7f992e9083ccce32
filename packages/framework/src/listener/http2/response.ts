import { Http2ServerResponse } from "node:http2";

/** Why an answer is cut: the client sees its stream reset by an error, not ended. */
const CUT = new Error("the answer was cut");

type Written = (error: Error) => void;

/** A response of HTTP/2 that tells, as one of HTTP/1.1 does, when it is destroyed, and whoever still writes to it. */
export class Http2Response extends Http2ServerResponse {
  static {
    // In its types they are properties, which an accessor may not override. A client that leaves is heard of before its
    // stream has come to its end, which Node then ends by itself.
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

  override destroy(error: Error = CUT): this {
    super.destroy(error);
    return this;
  }

  override write(chunk: string | Uint8Array, encoding?: BufferEncoding | Written, written?: Written): boolean {
    const done = typeof encoding === "function" ? encoding : written;
    if (this.destroyed) {
      if (done !== undefined) process.nextTick(done, CUT);
      return false;
    }
    return super.write(chunk, typeof encoding === "string" ? encoding : "utf8", done);
  }
}
