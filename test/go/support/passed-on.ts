// Server whose view forwards everything to the target.
import { type RelayOptions, relay } from "@virtual-workspaces/forwarding";
import {
  type Authorizer,
  authenticated,
  defineVirtualWorkspace,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../../_support/server.ts";
import { Target } from "./target.ts";

export interface PassedOnOptions {
  /** Authorizer. @default all authenticated users */
  readonly authorize?: Authorizer<unknown>;
  /** Whether the target is an older one. @default false */
  readonly older?: boolean;
  /** Target of upgrades, if it differs. */
  readonly upgradesTo?: string;
}

/** Target with a server in front of it, for alice in the namespace `default`. */
export interface PassedOn extends AsyncDisposable {
  readonly target: Target;
  readonly server: TlsServer;
  readonly home: KubeconfigHome;
}

function viewOf(url: string, { authorize = authenticated(), upgradesTo = url }: PassedOnOptions): VirtualWorkspace {
  const common: Omit<RelayOptions, "upstream"> = {
    ...{ path: ({ tail }) => tail, what: "the cluster", onError: () => undefined },
  };
  const passed = relay({ ...common, upstream: { url } });
  const upgraded = relay({ ...common, upstream: { url: upgradesTo } });
  return defineVirtualWorkspace({
    ...{ name: "cluster", path: "/", authorize },
    ...{ handleWhen: () => true, handle: passed.handle, upgrade: upgraded.upgrade },
    setup: () => ({
      [Symbol.asyncDispose]: async () => {
        await Promise.all([passed[Symbol.asyncDispose](), upgraded[Symbol.asyncDispose]()]);
      },
    }),
  });
}

export async function startPassedOn(options: PassedOnOptions = {}): Promise<PassedOn> {
  const target = await Target.start(options);
  const server = await startTls([viewOf(target.url, options)], { closeTimeout: 100 });
  const { authority, port } = server;
  const contexts = { cluster: "/services/cluster" };
  const home = await kubeconfigHome({ authority, port, contexts, user: "alice", namespace: "default" });
  return {
    ...{ target, server, home },
    [Symbol.asyncDispose]: async () => {
      home[Symbol.dispose]();
      await server.close();
      await target[Symbol.asyncDispose]();
    },
  };
}
