import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

const VERSION = "virtual-workspaces 1 ";
const [IV_LENGTH, TAG_LENGTH] = [12, 16];

/** Texts that only holders of the key can read or make, each for one purpose. */
export class Sealed {
  readonly #key: Buffer;

  /** @param key 32 bytes @throws Error on another length */
  constructor(key: Buffer) {
    if (key.length !== 32) throw new Error(`invalid key of sessions with ${key.length} bytes: use 32 random bytes`);
    this.#key = key;
  }

  /** Returns a short name of the key: 12 hexadecimal digits, the same in all processes with it. It says nothing about the key. */
  get keyName(): string {
    return createHmac("sha256", this.#key).update(`${VERSION}name`).digest("hex").slice(0, 12);
  }

  seal(text: string, purpose: string): string {
    const iv = randomBytes(IV_LENGTH);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv).setAAD(Buffer.from(VERSION + purpose));
    const bytes = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([iv, bytes, cipher.getAuthTag()]).toString("base64url");
  }

  /** Returns the text; `undefined` if it was sealed with another key or for another purpose, or was changed. */
  open(sealed: string, purpose: string): string | undefined {
    const bytes = Buffer.from(sealed, "base64url");
    if (bytes.length < IV_LENGTH + TAG_LENGTH) return undefined;
    const iv = bytes.subarray(0, IV_LENGTH);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, iv, { authTagLength: TAG_LENGTH });
    decipher.setAAD(Buffer.from(VERSION + purpose)).setAuthTag(bytes.subarray(-TAG_LENGTH));
    try {
      const plain = [decipher.update(bytes.subarray(IV_LENGTH, -TAG_LENGTH)), decipher.final()];
      return Buffer.concat(plain).toString("utf8");
    } catch {
      return undefined;
    }
  }
}
