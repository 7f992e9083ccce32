// A server of ours that another one of ours forwards to, and views that forward. Reads here are the least that writes need.
import type { KubeObject, ObjectOf } from "@virtual-workspaces/apimachinery";
import { impersonated } from "@virtual-workspaces/forwarding";
import { encodeObject, type GetOptions, type Scope, type Storage } from "@virtual-workspaces/framework";
import { Upstream } from "@virtual-workspaces/transport";
import { outboundHeaders } from "../../packages/forwarding/src/outbound/headers.ts";
import { pathOf } from "../../packages/forwarding/src/outbound/path.ts";
import { answeredError } from "../../packages/forwarding/src/outbound/failure.ts";
import {
  type ForwardedWritesOptions,
  forwardedWrites,
} from "../../packages/forwarding/src/writes/forwarded-writes.ts";

export { impersonated };

/** A storage over another server: its writes, and reads that ask each time. */
export function forwarded<T extends object>(options: ForwardedWritesOptions<T>): Storage<ObjectOf<T>> {
  const { resource, upstream, cluster, identity = "impersonate", transform } = options;
  const show = (object: ObjectOf<T>): ObjectOf<T> => transform?.show(object) ?? object;
  const ask = async (scope: Scope, name: string, { signal }: GetOptions): Promise<KubeObject | undefined> => {
    const at = { cluster: cluster?.(scope) ?? scope.cluster, namespace: scope.namespace, name };
    const answer = await upstream.send({ path: pathOf(resource, at), headers: outboundHeaders(scope, identity), signal });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw answeredError(answer);
    return JSON.parse(answer.body.toString("utf8")) as KubeObject;
  };
  return {
    ...forwardedWrites(options),
    get: async (scope, { name, namespace }, asked) => {
      const object = await ask({ ...scope, namespace }, name, asked);
      return object && encodeObject(show(object as ObjectOf<T>), scope.cluster);
    },
    list: async (scope, asked) => {
      const list = (await ask(scope, "", asked)) as unknown as {
        readonly items: ObjectOf<T>[];
        readonly metadata: { readonly resourceVersion: string };
      };
      return { items: list.items.map(show), resourceVersion: list.metadata.resourceVersion };
    },
  };
}

/** An upstream at a URL, as the holder of a token. */
export function upstreamAt(url: string, token = "forwarder"): Upstream {
  return new Upstream({ url, credentials: { get: () => ({ headers: ["Authorization", `Bearer ${token}`] }) } });
}
