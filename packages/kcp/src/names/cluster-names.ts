import { randomBytes } from "node:crypto";
import { base36 } from "../hashes/digits.ts";
import { sha224 } from "../hashes/sha.ts";

const TOKEN_BYTES = 32;
const RANDOM_LENGTH = 16;
const HOME_BYTES = 8;

/**
 * A name for the logical cluster of a new workspace: 16 characters of `0-9a-z`, 82 random bits (kcp's
 * `randomClusterName`). Two that are equal are not impossible: kcp creates the LogicalCluster, and where one is there
 * with another owner, takes another name.
 *
 * @param token from what it is made; default: 32 random bytes. Who can guess a token knows the name, which protects nothing
 */
export const newClusterName = (token: Uint8Array = randomBytes(TOKEN_BYTES)): string =>
  base36(sha224(token)).slice(0, RANDOM_LENGTH);

/**
 * The logical cluster of a user's home workspace, the same on every shard and in every installation (kcp's
 * `HomeClusterName`): `alice` has `v1u4alow0iv9`. 64 bits of a hash: not a secret, and not a proof of who it belongs to.
 */
export const homeClusterName = (user: string): string => base36(sha224(user).subarray(0, HOME_BYTES));
