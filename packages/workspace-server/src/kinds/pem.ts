/** One block of a PEM text. */
export interface PemBlock {
  /** Type in its first line: `CERTIFICATE`. */
  readonly type: string;
  /** Whether lines such as `Proc-Type: …` precede its data. */
  readonly hasHeaders: boolean;
  /** Encoded data. */
  readonly der: Buffer;
}

const BEGIN = /^-----BEGIN (.*)-----$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Returns the blocks of a text, in order. Text around them is explanation. Reads each line once, whatever the text contains. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let type: string | undefined;
  let lines: string[] = [];
  for (const line of text.split("\n").map((one) => one.trimEnd())) {
    const begun = BEGIN.exec(line)?.[1];
    if (begun !== undefined) {
      type = begun;
      lines = [];
    } else if (type !== undefined && line === `-----END ${type}-----`) {
      const data = lines.filter((one) => !one.includes(":"));
      const encoded = data.join("");
      const hasHeaders = data.length < lines.length;
      if (BASE64.test(encoded)) blocks.push({ type, hasHeaders, der: Buffer.from(encoded, "base64") });
      type = undefined;
    } else if (type !== undefined) lines.push(line);
  }
  return blocks;
}
