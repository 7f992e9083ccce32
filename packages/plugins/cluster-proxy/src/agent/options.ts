import type { PolicyRule } from "@virtual-workspaces/framework/authz";
import type { KeyPair } from "@virtual-workspaces/framework/tls";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import type { AgentEndOptions } from "../tunnel/agent-end.ts";

/** Options of an {@link Agent}. */
export interface AgentOptions {
  /** Hub, with the path of a ClusterProxy: `https://host:6443/services/clusterproxy-agents/root:edge/shop`. */
  readonly hub: Pick<UpstreamOptions, "url" | "tls" | "dial">;
  /** Token of an `AgentToken`, for an agent without a certificate or with one that hubs reject. @default none */
  readonly token?: string;
  /** Current certificate with its key. @default none yet */
  readonly certificate?: KeyPair;
  /** Other known hubs, dialed when {@link hub} does not respond. @default none */
  readonly others?: readonly NamedHub[];
  /** Stores {@link certificate} and {@link others}. Errors go to `onEvent` and are retried. Security: the private key is part of it. */
  readonly keep: (kept: KeptByAgent) => Promise<void> | void;
  /** API server of the remote cluster, with a credential that may impersonate users and groups there and needs no other rights. */
  readonly api: Upstream | UpstreamOptions;
  /**
   * Whether hubs use TLS with the API server themselves, with the credential in the Secret of `spec.secretRef`. Only the address of
   * {@link api} is then used, without a credential. Security: the agent then cannot read or reject requests.
   * @default false
   */
  readonly endToEnd?: boolean;
  /** Rules for allowed requests; others get 403, whichever hub sends them. @default everything */
  readonly allow?: readonly PolicyRule[];
  /** Interval between probes of {@link api}, whose state hubs show in the ClusterProxy, ms. @default 10000 */
  readonly probeEvery?: number;
  /** Maximum number of hubs with a tunnel: the one that {@link hub} leads to, and others that it names. @default 2 */
  readonly hubs?: number;
  /** Version that the agent reports to hubs. @default "unknown" */
  readonly version?: string;
  /** Windows, heartbeat and maximum number of streams of a tunnel. */
  readonly tunnel?: Pick<AgentEndOptions, "windows" | "heartbeat" | "streams">;
  /** @default the system clock */
  readonly now?: () => Date;
  /** Receives events. @default none */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Another hub that a hub has named. */
export interface NamedHub {
  readonly id: string;
  /** URL with the path of the ClusterProxy. */
  readonly url: string;
  /** CA certificate of the hub, PEM. @default that of the configured hub */
  readonly ca?: string;
}

/** State for the next start of an agent. */
export interface KeptByAgent {
  /** Certificate and key. Security: with the key anyone can act as the agent. */
  readonly certificate: KeyPair;
  readonly others: readonly NamedHub[];
}

/** Event of an agent. Messages and errors contain no secrets. */
export type AgentEvent =
  /** The agent has a new certificate. */
  | { readonly type: "certified"; readonly expires: Date }
  /** A tunnel to a hub is open. */
  | { readonly type: "connected"; readonly epoch: number; readonly hub: string }
  /** The hub drains the tunnel: the agent opens another one before it closes this one. */
  | { readonly type: "draining"; readonly hub: string }
  /** A tunnel has ended. */
  | { readonly type: "disconnected"; readonly error: Error | undefined; readonly hub: string }
  /** An operation failed and is retried after the delay, ms. */
  | {
      readonly type: "failed";
      readonly what: "certificate" | "tunnel" | "hubs" | "keep" | "api";
      readonly error: unknown;
      /** Hub of the failed operation, if it is about one. */
      readonly hub?: string;
      readonly retryAfter?: number;
    };
