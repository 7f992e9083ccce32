import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { readIfThere, writeAtomically } from "../admin/files.ts";

const generate = promisify(generateKeyPair);

/**
 * The private key in a file, PEM; made if there is none, readable by its owner alone (kcp's `sa.key`). A file that is there
 * is never replaced: all tokens that it has signed would be nobody's. To be called by one process at a time.
 *
 * @param bits of the RSA key. kcp makes 4096, for which the first start would wait a second or more. @default 2048
 * @throws Error on a file that can neither be read nor made, or that is empty
 */
export async function serviceAccountKeyFile(path: string, bits = 2048): Promise<string> {
  const kept = readIfThere(path);
  if (kept !== undefined) return checked(path, kept.toString("utf8"));
  const { privateKey } = await generate("rsa", {
    modulusLength: bits,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  writeAtomically(path, privateKey, 0o600);
  return privateKey;
}

function checked(path: string, pem: string): string {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) return pem;
  throw new Error(
    `${path} holds no PEM private key: put it back, or remove it to have a new one made, with which no token of before is good`,
  );
}
