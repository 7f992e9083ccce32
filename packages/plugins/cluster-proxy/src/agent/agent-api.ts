import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { relay } from "@virtual-workspaces/forwarding";
import {
  type Authenticator,
  type AuthorizeRequest,
  allow,
  createServer,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type Server,
  User,
} from "@virtual-workspaces/framework";
import { type PolicyRule, ruleAllows } from "@virtual-workspaces/framework/authz";
import { hostOf, Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { impersonationOf } from "../protocol/impersonation.ts";
import { API_TARGET, TLS_TARGET } from "../protocol/wire.ts";
import type { Target } from "../tunnel/agent-end.ts";
import { ApiProbe } from "./api-probe.ts";
import type { AgentOptions } from "./options.ts";

const WHAT = "the API server of the remote cluster";

/** The hub. It connects through the tunnel and names the caller in `Impersonate-*` headers. */
const HUB = new User({ name: "system:hub" });
const THROUGH_TUNNEL: Authenticator = { name: "tunnel", authenticate: () => HUB };

/** Access of hubs to the API server of an agent's cluster. */
export interface AgentApi extends AsyncDisposable {
  /** Party that terminates TLS with the API server. */
  readonly tls: "Agent" | "EndToEnd";
  /** Starts probes of the API server and, where the agent reads requests, its own server. */
  readonly start: () => Promise<void>;
  /** State of the API server. */
  readonly probe: Pick<ApiProbe, "state" | "first">;
  /** Returns a target that hubs may connect to, by name; no other is reachable. */
  readonly target: (name: string) => Target | undefined;
  /** Ends recognizable watches cleanly and waits for other open requests. */
  readonly close: () => Promise<void>;
}

/**
 * API of the remote cluster within the agent's rules. The agent terminates the hub's requests and forwards them with its own credential,
 * which never leaves it, as the impersonated user. Security: a request must impersonate a user, and not one of the built-in users with
 * rights on every API server, since the hub may name any user.
 */
export class RemoteApi implements AgentApi {
  readonly tls = "Agent";
  readonly probe: ApiProbe;
  readonly #server: Server;
  readonly #over = new AbortController();
  readonly #stack = new AsyncDisposableStack();

  constructor(options: Pick<AgentOptions, "api" | "allow" | "onEvent" | "probeEvery">) {
    const { api, allow: rules = EVERYTHING, onEvent } = options;
    const onError = (error: unknown): void => {
      onEvent?.({ type: "failed", what: "api", error });
      this.probe.suspect();
    };
    const passed = this.#stack.use(
      relay({ upstream: api, identity: impersonationOf, path: ({ tail }) => tail || "/", what: WHAT, onError }),
    );
    this.probe = probeOf(passed.upstream, options);
    const view = defineVirtualWorkspace({
      name: "remote",
      prefix: "/",
      path: "/",
      authorize: (request) => decision(rules, request),
      handleWhen: () => true,
      handle: passed.handle,
      upgrade: passed.upgrade,
    });
    this.#server = this.#stack.use(
      createServer({
        virtualWorkspaces: [view],
        authentication: [THROUGH_TUNNEL],
        impersonation: allow,
        log: ({ level, error, message }) => (level === "error" ? onError(error ?? message) : undefined),
      }),
    );
  }

  start(): Promise<void> {
    void this.probe.run(this.#over.signal);
    return this.#server.start();
  }

  target(name: string): Target | undefined {
    return name === API_TARGET ? { dial: async () => this.#server.connect() } : undefined;
  }

  /** Ends watches cleanly and waits for other open requests. */
  close(): Promise<void> {
    return this.#server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#stack.disposeAsync();
  }
}

function probeOf(upstream: Upstream, { probeEvery, onEvent }: Pick<AgentOptions, "probeEvery" | "onEvent">): ApiProbe {
  return new ApiProbe({
    upstream,
    every: probeEvery,
    changed: (state, error) => {
      if (state !== "Available") onEvent?.({ type: "failed", what: "api", error });
    },
  });
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

function decision(rules: readonly PolicyRule[], request: AuthorizeRequest<unknown>): Decision {
  if (request.user === HUB) return deny("the request of the hub names no user: send Impersonate-User");
  return rules.some((rule) => ruleAllows(rule, request))
    ? allow()
    : deny("the rules of the agent do not allow the request: its administrator can add a rule to --allow-file");
}

/** Idle time before TCP keepalive probes to the API server, ms. */
const PROBED_AFTER = 4_000;
const HTTPS = 443;

/**
 * API server of the remote cluster as a TCP target: a hub has its own TLS session and credential for it. Security: the agent cannot read or
 * reject requests; it only restricts the target.
 */
export class ByteApi implements AgentApi {
  readonly tls = "EndToEnd";
  readonly probe: ApiProbe;
  readonly #target: Target;
  readonly #over = new AbortController();
  readonly #upstream: Upstream;

  /** @throws Error if the address is not https */
  constructor(options: Pick<AgentOptions, "api" | "onEvent" | "probeEvery">) {
    const { api } = options;
    const url = new URL(api.url);
    if (url.protocol !== "https:")
      throw new Error(
        "invalid api of an agent with endToEnd: use an https URL, since the connection would otherwise be readable on the way",
      );
    const at = { host: hostOf(url), port: Number(url.port) || HTTPS };
    const { dial } = api as Partial<UpstreamOptions>;
    // The hub verifies the certificate; the probe sends nothing secret.
    const probed = { url: api.url, tls: { insecureSkipVerify: true }, ...(dial !== undefined && { dial }) };
    this.#upstream = new Upstream(probed);
    this.probe = probeOf(this.#upstream, options);
    this.#target = {
      dial: ({ signal }) => (dial === undefined ? dialTcp(at, signal) : Promise.resolve(dial(at, { signal }))),
    };
  }

  target(name: string): Target | undefined {
    return name === TLS_TARGET ? this.#target : undefined;
  }

  async start(): Promise<void> {
    void this.probe.run(this.#over.signal);
  }

  /** Watches are not recognizable in the bytes: open connections end when the hub ends them. */
  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#upstream[Symbol.asyncDispose]();
  }
}

async function dialTcp(at: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Duplex> {
  const socket = connect({ ...at, allowHalfOpen: true });
  socket.setNoDelay(true).setKeepAlive(true, PROBED_AFTER);
  try {
    await once(socket, "connect", { signal });
    return socket;
  } catch (error) {
    socket.on("error", () => undefined).destroy();
    throw error;
  }
}
