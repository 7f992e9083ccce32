/**
 * Resource versions that we mint ourselves: for collections, and for views whose membership no source can number.
 *
 * A version is `(256 × milliseconds since 2020 + n) × 2^15 + minter`. It starts from the clock so that versions grow
 * across restarts, and its low bits name the minter so that a version of another process, or of this one before its
 * restart, is recognised: such a version can never be resumed truthfully and is answered 410.
 * Kubernetes 1.35 (KEP-5504) asks for increasing integers per resource; these fit in 63 bits until 2054.
 */
export class Minter {
  #sequence: number;
  readonly #id: bigint;

  /** Who gave a version, by its number from 0 to 32767; `undefined` of what no minter can have given. */
  static of(version: string): number | undefined {
    return isVersion(version) ? Number(BigInt(version) % BigInt(MINTERS)) : undefined;
  }

  constructor(options: { readonly now?: number; readonly id?: number } = {}) {
    const now = options.now ?? Date.now();
    this.#sequence = Math.max(0, now - EPOCH) * PER_MILLISECOND;
    this.#id = BigInt((options.id ?? Math.floor(Math.random() * MINTERS)) % MINTERS);
  }

  /** By what its versions name it: {@link Minter.of}. */
  get id(): number {
    return Number(this.#id);
  }

  /** A version above every other that this minter has given. */
  next(): string {
    this.#sequence += 1;
    return this.#format();
  }

  /** Whether `version` is one of ours, given already. Anything not a canonical decimal is not. */
  issued(version: string): boolean {
    if (!isVersion(version)) return false;
    const value = BigInt(version);
    return value % BigInt(MINTERS) === this.#id && Number(value / BigInt(MINTERS)) <= this.#sequence;
  }

  #format(): string {
    return (BigInt(this.#sequence) * BigInt(MINTERS) + this.#id).toString();
  }
}

/** Canonical decimals of at most 63 bits, or nearly. */
function isVersion(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text);
}

const EPOCH = Date.UTC(2020, 0, 1);
/** Versions a minute-long burst may use up per millisecond of uptime and still restart above them. */
const PER_MILLISECOND = 256;
const MINTERS = 2 ** 15;

/**
 * The process's own. One per process is the point: two minters would make versions of one process strangers to each
 * other. It is the only state a module of this package holds.
 */
export const processMinter: Minter = new Minter();
