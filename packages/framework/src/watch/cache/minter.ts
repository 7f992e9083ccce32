/**
 * Assigns resource versions where no source can: for collections, and for views whose membership is computed.
 *
 * A version is `(256 × milliseconds since 2020 + n) × 2^15 + minter`. It starts from the clock, so that versions grow across
 * restarts. Its low bits name the minter, which identifies versions of another process, or of this one before its restart: no
 * watch can resume from those, so they get 410. Kubernetes 1.35 (KEP-5504) demands increasing integers per resource; these
 * fit in 63 bits until 2054.
 */
export class Minter {
  #sequence: number;
  readonly #id: bigint;

  /** Returns the minter of a version, from 0 to 32767; `undefined` when no minter can have issued it. */
  static of(version: string): number | undefined {
    return isVersion(version) ? Number(BigInt(version) % BigInt(MINTERS)) : undefined;
  }

  constructor(options: { readonly now?: number; readonly id?: number } = {}) {
    const now = options.now ?? Date.now();
    this.#sequence = Math.max(0, now - EPOCH) * PER_MILLISECOND;
    this.#id = BigInt((options.id ?? Math.floor(Math.random() * MINTERS)) % MINTERS);
  }

  /** Number of this minter in its versions: {@link Minter.of}. */
  get id(): number {
    return Number(this.#id);
  }

  /** Returns a version above all that this minter has issued. */
  next(): string {
    this.#sequence += 1;
    return this.#format();
  }

  /** Whether this minter has issued `version`. False for anything but a canonical decimal. */
  issued(version: string): boolean {
    if (!isVersion(version)) return false;
    const value = BigInt(version);
    return value % BigInt(MINTERS) === this.#id && Number(value / BigInt(MINTERS)) <= this.#sequence;
  }

  #format(): string {
    return (BigInt(this.#sequence) * BigInt(MINTERS) + this.#id).toString();
  }
}

/** Accepts canonical decimals of at most 63 bits, or nearly. */
function isVersion(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text);
}

const EPOCH = Date.UTC(2020, 0, 1);
/** Versions per millisecond of uptime that a minute-long burst may use: a restart still begins above them. */
const PER_MILLISECOND = 256;
const MINTERS = 2 ** 15;

/**
 * Minter of this process. There must be only one: versions of two minters are not comparable. No other module of this package
 * holds state.
 */
export const processMinter: Minter = new Minter();
