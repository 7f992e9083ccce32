// Controller of widgets over all shards in a slice, which records its reconciles.
import { controller, type EndpointFailure, endpointInformers, Informer } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { clientOf, EndpointSlice, type Shard, type Slices, Widget } from "./shard.ts";

export interface FollowedOptions {
  readonly handOver?: number;
  readonly patience?: number;
  readonly rewrite?: (url: string) => string;
}

/** Identifies shards by their tokens: the shard by address. */
export function follow(slices: Slices, shards: Readonly<Record<string, Shard>>, options: FollowedOptions = {}) {
  const stack = new AsyncDisposableStack();
  const failures: EndpointFailure[] = [];
  /** Reconciles in order: the object's size, `deleted` or `gone`. */
  const told: string[] = [];
  /** State that results from the reconciles. */
  const world = new Map<string, number | undefined>();
  const informers = stack.use(
    endpointInformers({
      resource: slices.client.resource(EndpointSlice),
      name: "shards",
      connect: (address) => clientOf(address, shards[address]?.token ?? "none"),
      informers: { widgets: ({ client }) => new Informer({ resource: client.resource(Widget) }).start() },
      onError: (failure) => void failures.push(failure),
      ...options,
    }),
  );
  const running = stack.use(
    controller({
      name: "widgets",
      sources: [{ informer: informers.sources.widgets }],
      workers: 4,
      reconcile: (key, { object }) => {
        const id = keyText(key);
        told.push(`${id} ${object === undefined ? "deleted" : object.spec.size}`);
        if (object === undefined) world.delete(id);
        else world.set(id, object.spec.size);
      },
      gone: (key) => {
        told.push(`${keyText(key)} gone`);
        world.delete(keyText(key));
      },
      onError: ({ error }) => {
        throw error;
      },
    }),
  );
  return {
    informers,
    running,
    failures,
    told,
    world,
    statuses: () => informers.endpoints.statuses.map(({ url, ready, reason }) => `${url} ${ready} ${reason}`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
