import type { PolicyRule } from "@virtual-workspaces/framework/authz";
import type { KeyPair } from "@virtual-workspaces/framework/tls";
import type { Upstream, UpstreamOptions } from "@virtual-workspaces/transport";
import type { AgentEndOptions } from "../tunnel/agent-end.ts";

/** What an {@link Agent} is told. */
export interface AgentOptions {
  /** The hub, as far as one ClusterProxy: `https://host:6443/services/clusterproxy-agents/root:edge/shop`. */
  readonly hub: Pick<UpstreamOptions, "url" | "tls" | "dial">;
  /** A token of an `AgentToken`, for an agent that has no certificate, or whose certificate is not taken any more. @default none */
  readonly token?: string;
  /** The certificate that it has been given, and its key. @default none yet */
  readonly certificate?: KeyPair;
  /** Hubs that it has heard of: where {@link hub} does not answer it goes by these. @default none */
  readonly others?: readonly NamedHub[];
  /** Told what {@link certificate} and {@link others} are to be from now on, to be kept where nobody else reads it. What it throws is told `onEvent`, and it is told again later. */
  readonly keep: (kept: KeptByAgent) => Promise<void> | void;
  /** The API server of the remote cluster, by a credential that may impersonate users and groups there, and need not do anything else. */
  readonly api: Upstream | UpstreamOptions;
  /**
   * Whether hubs talk TLS with the API server themselves, by a credential that is in the Secret of `spec.secretRef`, and bytes alone pass here: of {@link api} the address counts
   * then, and no credential is needed. Nobody who runs the agent can see what is asked, or refuse any of it. @default false
   */
  readonly endToEnd?: boolean;
  /** What may be asked of it, whoever runs the hub: what no rule allows is 403. @default everything */
  readonly allow?: readonly PolicyRule[];
  /** How many hubs it has a tunnel to at once, where there are so many: the one that {@link hub} leads to, and others that that one names. @default 2 */
  readonly hubs?: number;
  /** What hubs are told of it. @default "unknown" */
  readonly version?: string;
  /** Windows, heartbeat and number of connections of the tunnel. */
  readonly tunnel?: Pick<AgentEndOptions, "windows" | "heartbeat" | "streams">;
  /** @default the machine's clock */
  readonly now?: () => Date;
  /** Told what happens. @default nobody */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** A hub, as another one has named it. */
export interface NamedHub {
  readonly id: string;
  /** As far as the ClusterProxy. */
  readonly url: string;
  /** Who certifies it, PEM. @default who certifies the hub that the agent was told of */
  readonly ca?: string;
}

/** What an agent is started with the next time. */
export interface KeptByAgent {
  /** Secret: by its key anybody is the agent. */
  readonly certificate: KeyPair;
  readonly others: readonly NamedHub[];
}

/** What happens to an agent. Messages and errors have nothing secret in them. */
export type AgentEvent =
  /** It has been given a certificate, the first or another. */
  | { readonly type: "certified"; readonly expires: Date }
  /** It has a tunnel, to the hub at a URL. */
  | { readonly type: "connected"; readonly epoch: number; readonly hub: string }
  /** The hub wants it elsewhere: it dials again, and ends the tunnel when that stands. */
  | { readonly type: "draining"; readonly hub: string }
  /** A tunnel has ended. */
  | { readonly type: "disconnected"; readonly error: Error | undefined; readonly hub: string }
  /** Something failed; it is tried again after a while, ms. */
  | {
      readonly type: "failed";
      readonly what: "certificate" | "tunnel" | "hubs" | "keep" | "api";
      readonly error: unknown;
      /** Which, where it is one of several. */
      readonly hub?: string;
      readonly retryAfter?: number;
    };
