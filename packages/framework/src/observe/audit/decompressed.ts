import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";

type Decoder = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["br", brotliDecompressSync],
  ["deflate", inflateSync],
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["zstd", zstdDecompressSync],
]);

/** What was answered, without its `Content-Encoding`; `undefined` when that is more than `limit` bytes, or unknown. */
export function decompressed(
  bytes: Buffer,
  encoding: number | string | string[] | undefined,
  limit: number,
): Buffer | undefined {
  const codings = String(encoding ?? "identity")
    .split(",")
    .map((coding) => coding.trim().toLowerCase()); // the last one outermost
  return codings.reduceRight<Buffer | undefined>((inner, coding) => inner && decoded(inner, coding, limit), bytes);
}

function decoded(bytes: Buffer, coding: string, limit: number): Buffer | undefined {
  if (coding === "identity") return bytes;
  try {
    return DECODERS.get(coding)?.(bytes, { maxOutputLength: limit });
  } catch {
    return undefined; // more than that, or damaged
  }
}
