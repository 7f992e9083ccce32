import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { EncodedList } from "../storage.ts";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  br: createBrotliDecompress,
  deflate: createInflate,
  gzip: createGunzip,
};

/** Whether an `Accept-Encoding` header names `encoding`. As in Kubernetes, no header means no encoding. */
export function acceptsEncoding(header: string | string[] | undefined, encoding: string): boolean {
  return String(header ?? "")
    .split(",")
    .some((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      return (name === encoding || name === "*") && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
}

/** The bytes of a list without its `contentEncoding`. @throws Error on an encoding that Node cannot decode */
export function decoded({ body, contentEncoding }: EncodedList): EncodedList["body"] {
  if (contentEncoding === undefined) return body;
  const decoder = DECODERS[contentEncoding]?.();
  if (decoder === undefined) throw new Error(`cannot decode a list encoded as ${contentEncoding}`);
  // Errors of either end come out of the iteration.
  pipeline(Readable.from(body instanceof Uint8Array ? [body] : body), decoder, () => undefined);
  return decoder;
}
