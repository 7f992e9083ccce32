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
import { hostOf, type UpstreamOptions } from "@virtual-workspaces/transport";
import { impersonationOf } from "../protocol/impersonation.ts";
import { API_TARGET, TLS_TARGET } from "../protocol/wire.ts";
import type { Target } from "../tunnel/agent-end.ts";
import type { AgentOptions } from "./options.ts";

const WHAT = "the API server of the remote cluster";

/** Whoever runs the hub: comes through the tunnel and says as whom it asks, by `Impersonate-*`. */
const HUB = new User({ name: "system:hub" });
const THROUGH_TUNNEL: Authenticator = { name: "tunnel", authenticate: () => HUB };

/** What an agent has of its cluster's API server for hubs. */
export interface AgentApi extends AsyncDisposable {
  /** Who talks TLS with it. */
  readonly tls: "Agent" | "EndToEnd";
  readonly start: () => Promise<void>;
  /** What hubs can have connections to, by its name; nothing else. */
  readonly target: (name: string) => Target | undefined;
  /** Ends watches cleanly, where it can be told what is one, and waits for what else is under way. */
  readonly close: () => Promise<void>;
}

/**
 * The remote cluster's API, as far as the agent allows: it ends the hub's requests itself, and asks the API server with a credential that never leaves it, as whom the
 * hub says. Somebody has to be named, and nobody that API servers give rights to by themselves: whoever runs the hub can be none of these.
 */
export class RemoteApi implements AgentApi {
  readonly tls = "Agent";
  readonly #server: Server;
  readonly #stack = new AsyncDisposableStack();

  constructor({ api, allow: rules = EVERYTHING, onEvent }: Pick<AgentOptions, "api" | "allow" | "onEvent">) {
    const onError = (error: unknown): void => onEvent?.({ type: "failed", what: "api", error });
    const passed = this.#stack.use(
      relay({ upstream: api, identity: impersonationOf, path: ({ tail }) => tail || "/", what: WHAT, onError }),
    );
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
    return this.#server.start();
  }

  target(name: string): Target | undefined {
    return name === API_TARGET ? { dial: async () => this.#server.connect() } : undefined;
  }

  /** Ends watches cleanly, and waits for what else is under way. */
  close(): Promise<void> {
    return this.#server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

function decision(rules: readonly PolicyRule[], request: AuthorizeRequest<unknown>): Decision {
  if (request.user === HUB) return deny("the hub has not said who asks");
  return rules.some((rule) => ruleAllows(rule, request))
    ? allow()
    : deny("the agent does not allow it: whoever runs it can, by a rule of its --allow-file");
}

/** After so long without a byte the kernel asks whether the API server is there, ms. */
const PROBED_AFTER = 4_000;
const HTTPS = 443;

/**
 * The remote cluster's API server as a place that bytes are brought to: a hub talks TLS with it, by a credential of its own. Nothing of it can be read
 * here, and nothing be refused but other places.
 */
export class ByteApi implements AgentApi {
  readonly tls = "EndToEnd";
  readonly #target: Target;

  /** @throws Error on an address that is none of https */
  constructor({ api }: Pick<AgentOptions, "api">) {
    const url = new URL(api.url);
    if (url.protocol !== "https:")
      throw new Error(
        "endToEnd of an agent: its API server has to be https, or whatever is said could be read on the way",
      );
    const at = { host: hostOf(url), port: Number(url.port) || HTTPS };
    const { dial } = api as Partial<UpstreamOptions>;
    this.#target = {
      dial: ({ signal }) => (dial === undefined ? dialTcp(at, signal) : Promise.resolve(dial(at, { signal }))),
    };
  }

  target(name: string): Target | undefined {
    return name === TLS_TARGET ? this.#target : undefined;
  }

  async start(): Promise<void> {}

  /** Nobody here knows what of it is a watch: what is open ends when the hub has ended it. */
  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
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
