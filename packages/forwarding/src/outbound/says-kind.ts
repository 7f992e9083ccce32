import { isJsonObject, parseOwnJson } from "@virtual-workspaces/apimachinery";

/** What an answer must be. */
export interface ExpectedKind {
  readonly kind: string;
  readonly apiVersion: string;
}

const BEGINNING = 256;

/** Whether the kind stands at the beginning, where servers write it: then nothing more needs to be looked at. */
export function beginsWithKind(bytes: Buffer, { kind, apiVersion }: ExpectedKind): boolean {
  const beginning = bytes.toString("latin1", 0, Math.min(BEGINNING, bytes.length));
  const [saidKind, saidVersion] = [`"kind":"${kind}"`, `"apiVersion":"${apiVersion}"`];
  return beginning.startsWith(`{${saidKind},${saidVersion},`) || beginning.startsWith(`{${saidVersion},${saidKind},`);
}

/** Whether a body is of the kind, however it is written. */
export function saysKind(bytes: Buffer, expected: ExpectedKind): boolean {
  if (beginsWithKind(bytes, expected)) return true;
  try {
    const object = parseOwnJson(bytes.toString("utf8"));
    return isJsonObject(object) && object["kind"] === expected.kind && object["apiVersion"] === expected.apiVersion;
  } catch {
    return false;
  }
}
