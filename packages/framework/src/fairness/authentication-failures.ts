import { BlockList, isIP } from "node:net";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { IdentityHeaders } from "../authn/headers.ts";
import type { ObservedRequest } from "../observe/observer.ts";
import { whole } from "../util/numbers.ts";

/**
 * How much of authentication one remote address may use up without having proved anything: an IPv4 address, or the /64 of
 * an IPv6 one. Kubernetes has no such bound.
 */
export interface AuthenticationFailureLimits {
  /**
   * Failed authentications before requests with credentials from the address are answered 429, without any authenticator
   * being asked, right or wrong: it is the address that is known. Requests that bring no credentials do not count.
   * `Infinity`: no bound. @default 100
   */
  readonly failures?: number;
  /** How often one of them is forgiven, ms. @default 1000 */
  readonly forgiveEvery?: number;
  /** Authentications under way at a time, of those that take more than a moment: a token to be looked up elsewhere. @default 100 */
  readonly pending?: number;
  /**
   * Addresses and subnets (`10.0.0.0/8`) whose clients are not told apart by it: proxies in front, which bound their own
   * clients. Whoever can connect from there may guess tokens at any rate. @default loopback, `127.0.0.0/8` and `::1`
   */
  readonly trusted?: readonly string[];
}

/** Addresses that are kept; beyond that the one whose last failure is longest ago is forgotten. */
const KEPT = 10_000;

/** The longest that anybody is told to wait, s. */
const LONGEST_WAIT = 3600;

export interface FailingAddress {
  /** Failures left, at `at`. */
  left: number;
  at: number;
  pending: number;
}

/** Limits failed authentications by address of the client. */
export class AuthenticationFailureLimiter {
  readonly #failures: number;
  readonly #forgiveEvery: number;
  readonly #pending: number;
  readonly #identityHeaders: IdentityHeaders;
  readonly #trusted = new BlockList();
  /** By network. Without any, nobody can be refused. */
  readonly known: Map<string, FailingAddress> = new Map();

  /** @throws Error on a limit that is none */
  constructor(limits: AuthenticationFailureLimits, identityHeaders: IdentityHeaders) {
    this.#identityHeaders = identityHeaders;
    const { failures = 100, forgiveEvery = 1000, pending = 100, trusted = ["127.0.0.0/8", "::1"] } = limits;
    this.#failures = whole("authenticationFailures.failures", failures, 1);
    this.#forgiveEvery = whole("authenticationFailures.forgiveEvery", forgiveEvery, 1);
    this.#pending = whole("authenticationFailures.pending", pending, 1);
    for (const subnet of trusted) trust(this.#trusted, subnet);
  }

  /** The error 429 of an address with too many failures, or with too many authentications under way. */
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

  /** Counts an authentication for as long as it is under way. */
  during({ peer }: Pick<ObservedRequest, "peer" | "req">, pending: Promise<void>): Promise<void> {
    const address = this.#addressOf(peer);
    if (address === undefined) return pending;
    address.pending += 1;
    return pending.finally(() => {
      address.pending -= 1;
    });
  }

  /** Counts a failed one. */
  failed(request: Pick<ObservedRequest, "peer" | "req">): void {
    if (this.#identityHeaders.bringsCredentials(request.req)) this.failedBehind(request);
  }

  /** Counts one that failed at another server, with credentials that have been taken off the request by now. */
  failedBehind({ peer }: Pick<ObservedRequest, "peer">): void {
    const address = this.#addressOf(peer);
    if (address !== undefined) address.left = Math.max(0, address.left - 1);
  }

  /** Makes it the last to be forgotten. */
  #addressOf(peer: string | undefined): FailingAddress | undefined {
    const network = networkOf(peer);
    if (network === undefined || this.#isTrusted(peer ?? "")) return undefined;
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
      `authenticationFailures.trusted: ${JSON.stringify(subnet)} is neither an IP address nor a subnet like 10.0.0.0/8`,
    );
  list.addSubnet(address, length === undefined ? most : Number(length), type);
}

/**
 * What stands for one client among the addresses of a network: an IPv4 address, or the /64 of an IPv6 one, of which each
 * host can have as many as it likes. `undefined`: no address, as of a Unix socket.
 */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !address.includes(":")) return address;
  // An IPv4 client of a socket that takes both.
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
