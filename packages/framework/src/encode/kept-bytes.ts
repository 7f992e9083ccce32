/**
 * The same bytes in memory of their own. What is small comes from Node's pool: kept for long, a few hundred bytes there hold on to
 * 64 KiB that were handed out with them.
 */
export function keptBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
