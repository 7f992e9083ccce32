import { BlockList, isIP } from "node:net";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { IdentityHeaders } from "../authn/headers.ts";
import type { ObservedRequest } from "../observe/observer.ts";
import { whole } from "../util/numbers.ts";

/**
 * Limits on the authentication work that one unauthenticated remote address may cause: an IPv4 address, or the /64 of an IPv6
 * one. Kubernetes has no such limit.
 */
export interface AuthenticationFailureLimits {
  /**
   * Failed authentications before the server answers credentials from the address with 429, valid or not, without calling an
   * authenticator. Requests without credentials do not count. `Infinity`: no limit.
   * @default 100
   */
  readonly failures?: number;
  /** Interval at which one failure is forgiven, ms. @default 1000 */
  readonly forgiveEvery?: number;
  /** Concurrent authentications that take more than a moment, such as a token lookup on another server. @default 100 */
  readonly pending?: number;
  /**
   * Exempt addresses and subnets (`10.0.0.0/8`): proxies in front, which limit their own clients. Security: clients that can
   * connect from there may guess tokens at any rate.
   * @default loopback, `127.0.0.0/8` and `::1`
   */
  readonly trusted?: readonly string[];
  /**
   * Called with the network of each counted failure, so that other processes behind the same address count it as well
   * (`countAuthenticationFailure` of their servers).
   * @default failures count in this process
   */
  readonly onFailure?: (network: string) => void;
}

/** Number of remembered addresses; beyond that, the one with the oldest last failure is forgotten. */
const KEPT = 10_000;

/** Largest `Retry-After`, s. */
const LONGEST_WAIT = 3600;

export interface FailingAddress {
  /** Failures left, at `at`. */
  left: number;
  at: number;
  pending: number;
}

/** Authentication-failure limiter: limits failed authentications by client address. */
export class AuthenticationFailureLimiter {
  readonly #failures: number;
  readonly #forgiveEvery: number;
  readonly #pending: number;
  readonly #identityHeaders: IdentityHeaders;
  readonly #trusted = new BlockList();
  readonly #onFailure: AuthenticationFailureLimits["onFailure"];
  /** State by network. While it is empty, no request can be rejected. */
  readonly known: Map<string, FailingAddress> = new Map();

  /** @throws Error on an invalid limit */
  constructor(limits: AuthenticationFailureLimits, identityHeaders: IdentityHeaders) {
    this.#identityHeaders = identityHeaders;
    const { failures = 100, forgiveEvery = 1000, pending = 100, trusted = ["127.0.0.0/8", "::1"] } = limits;
    this.#onFailure = limits.onFailure;
    this.#failures = whole("authenticationFailures.failures", failures, 1);
    this.#forgiveEvery = whole("authenticationFailures.forgiveEvery", forgiveEvery, 1);
    this.#pending = whole("authenticationFailures.pending", pending, 1);
    for (const subnet of trusted) trust(this.#trusted, subnet);
  }

  /** Returns the error 429 for an address with too many failures, or too many authentications under way. */
  refusal({ peer, req }: Pick<ObservedRequest, "peer" | "req">): ApiError | undefined {
    const address = this.known.get(networkOf(peer) ?? "");
    if (address === undefined || !this.#identityHeaders.bringsCredentials(req)) return undefined;
    this.#forgive(address);
    if (address.pending >= this.#pending)
      return ApiError.tooManyRequests("too many authentications are under way; try again later", 1);
    if (address.left >= 1) return undefined;
    const wait = Math.min(LONGEST_WAIT, Math.ceil(((1 - address.left) * this.#forgiveEvery) / 1000));
    return ApiError.tooManyRequests("too many failed authentications; try again later", wait);
  }

  /** Counts an authentication while it is under way. */
  during({ peer }: Pick<ObservedRequest, "peer" | "req">, pending: Promise<void>): Promise<void> {
    const address = this.#addressOf(peer);
    if (address === undefined) return pending;
    address.pending += 1;
    return pending.finally(() => {
      address.pending -= 1;
    });
  }

  /** Counts a failed authentication. */
  failed(request: Pick<ObservedRequest, "peer" | "req">): void {
    if (this.#identityHeaders.bringsCredentials(request.req)) this.failedBehind(request);
  }

  /** Counts a failed authentication at an upstream; the credentials have already been stripped from the request. */
  failedBehind({ peer }: Pick<ObservedRequest, "peer">): void {
    const address = this.#addressOf(peer);
    if (address === undefined) return;
    address.left = Math.max(0, address.left - 1);
    this.#onFailure?.(networkOf(peer) ?? "");
  }

  /** Counts a failed authentication of a network at another process. */
  failedElsewhere(network: string): void {
    const address = this.#stateOf(network);
    address.left = Math.max(0, address.left - 1);
  }

  /** Looks up an address and makes it the last to be forgotten. */
  #addressOf(peer: string | undefined): FailingAddress | undefined {
    const network = networkOf(peer);
    return network === undefined || this.#isTrusted(peer ?? "") ? undefined : this.#stateOf(network);
  }

  #stateOf(network: string): FailingAddress {
    const address = this.known.get(network) ?? { left: this.#failures, at: performance.now(), pending: 0 };
    this.#forgive(address);
    this.known.delete(network);
    if (this.known.size >= KEPT) this.known.delete(this.known.keys().next().value ?? "");
    this.known.set(network, address);
    return address;
  }

  #forgive(address: FailingAddress): void {
    const now = performance.now();
    address.left = Math.min(this.#failures, address.left + (now - address.at) / this.#forgiveEvery);
    address.at = now;
  }

  #isTrusted(address: string): boolean {
    const plain = address.replace(/^::ffff:(?=.*\.)|%.*$/g, "");
    return this.#trusted.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
  }
}

function trust(list: BlockList, subnet: string): void {
  const [address = "", length, ...rest] = subnet.split("/");
  const family = isIP(address);
  const type = family === 6 ? "ipv6" : "ipv4";
  const most = family === 6 ? 128 : 32;
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(length ?? "0") || Number(length ?? 0) > most)
    throw new Error(
      `invalid authenticationFailures.trusted ${JSON.stringify(subnet)}: use an IP address or a subnet like 10.0.0.0/8`,
    );
  list.addSubnet(address, length === undefined ? most : Number(length), type);
}

/**
 * Returns the network that stands for one client: an IPv4 address, or the /64 of an IPv6 one, because a host can use any
 * number of addresses in it. `undefined`: no address, as of a Unix socket.
 */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !address.includes(":")) return address;
  // An IPv4 client of a dual-stack socket.
  if (address.includes(".")) return address.slice(address.lastIndexOf(":") + 1);
  const [before = "", after] = address.replace(/%.*$/, "").split("::");
  const head = groups(before);
  const tail = after === undefined ? [] : groups(after);
  const all = [...head, ...Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0"), ...tail];
  return `${all.slice(0, 4).join(":")}::/64`;
}

function groups(text: string): string[] {
  return text === "" ? [] : text.split(":");
}
