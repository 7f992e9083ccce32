import { base62 } from "../hashes/digits.ts";
import { sha224 } from "../hashes/sha.ts";

const HASH_LENGTH = 5;
/** A name has 253 characters at most; one is the dash. */
const LONGEST_PREFIX = 253 - 1 - HASH_LENGTH;

/** Which binding a workspace type makes. */
export interface DefaultBinding {
  /** The logical cluster that is bound in, by name. */
  readonly cluster: string;
  /** Where the export is, as the WorkspaceType says it. */
  readonly exportPath: string;
  /** The export's name. */
  readonly exportName: string;
}

/** The name of an APIBinding that a workspace type's `defaultAPIBindings` make (kcp's `GenerateAPIBindingName`). */
export function defaultBindingName({ cluster, exportPath, exportName }: DefaultBinding): string {
  const hash = base62(sha224(`${cluster}|${exportPath}|${exportName}`));
  return `${exportName.slice(0, LONGEST_PREFIX)}-${hash.slice(0, HASH_LENGTH).toLowerCase()}`;
}
