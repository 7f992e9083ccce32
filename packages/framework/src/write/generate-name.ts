import { randomInt } from "node:crypto";

/** As Kubernetes': no vowels, and nothing that looks like another, so that no words come out. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const RANDOM = 5;
/** Names are kept to a DNS label, whatever the kind allows. */
const LONGEST_BASE = 63 - RANDOM;

/** A name that begins with `base` (Kubernetes' SimpleNameGenerator). */
export function generateName(base: string): string {
  let suffix = "";
  for (let at = 0; at < RANDOM; at++) suffix += ALPHABET[randomInt(ALPHABET.length)];
  return base.slice(0, LONGEST_BASE) + suffix;
}
