import { IncomingMessage } from "node:http";

/** Values of each header, by name in lower case. */
export type DistinctHeaders = NodeJS.Dict<string[]>;

/**
 * A request over HTTP/1.1 whose `headersDistinct` follow `rawHeaders`, of which the server removes some: Node.js reads them by the
 * first number of lines, so that they would have to be made before.
 */
export class Http1Request extends IncomingMessage {
  #distinct: DistinctHeaders | undefined;

  static {
    // The types declare a property, which an accessor may not override.
    Object.defineProperty(Http1Request.prototype, "headersDistinct", {
      configurable: true,
      get(this: Http1Request) {
        this.#distinct ??= distinctOf(this.rawHeaders);
        return this.#distinct;
      },
      set(this: Http1Request, headers: DistinctHeaders) {
        this.#distinct = headers;
      },
    });
  }

  /** Whether `headersDistinct` have been read. */
  get isDistinct(): boolean {
    return this.#distinct !== undefined;
  }
}

/** Groups the lines of headers by name. */
export function distinctOf(lines: readonly string[]): DistinctHeaders {
  const found: DistinctHeaders = Object.create(null);
  for (let at = 0; at < lines.length; at += 2) {
    const name = (lines[at] as string).toLowerCase();
    const value = lines[at + 1] as string;
    const values = found[name];
    if (values === undefined) found[name] = [value];
    else values.push(value);
  }
  return found;
}
