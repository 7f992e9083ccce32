import { type Admit, converted, type ServedResource } from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";
import { CustomResourceDefinition } from "../kinds/custom-resource-definition.ts";
import type { BuiltInKind } from "../kinds/built-in-kind.ts";
import { CoreEvent } from "../kinds/event.ts";
import { coreOfEvent, Event, eventOfCore } from "../kinds/events-event.ts";
import { finalizeNamespace } from "../kinds/finalize.ts";
import { Namespace } from "../kinds/namespace.ts";
import { ServiceAccount } from "../kinds/service-account.ts";
import { builtInKinds } from "../kinds/built-in-kinds.ts";
import { type TokenSubresourceOptions, tokenSubresource } from "../tokens/token-request.ts";
import type { ShardObjects } from "../state/objects.ts";

/** How long an event lives that is not written again, s (`--event-ttl`). */
const EVENT_TTL = 3_600;

/** What the kinds that all logical clusters have are served with. */
export interface BaseKindsOptions {
  readonly objects: ShardObjects;
  /** Asked of all of them. */
  readonly admit: Admit;
  /** `serviceaccounts/token`. */
  readonly token: TokenSubresourceOptions;
}

/** Kubernetes' own kinds, but for CustomResourceDefinition, whose controller serves it. */
export function baseKinds(options: BaseKindsOptions): readonly ServedResource[] {
  return builtInKinds
    .filter(({ resource }) => resource !== CustomResourceDefinition)
    .map((kind) => serve(kind, options));
}

function serve({ resource, verbs }: BuiltInKind, { objects, admit, token }: BaseKindsOptions): ServedResource {
  const options = { verbs, admit };
  if (resource.plural === Namespace.plural) {
    const namespaces = objects.of(Namespace);
    const finalize = finalizeNamespace(namespaces);
    return Namespace.serve(namespaces, { verbs, admit: admit as never, subresources: { finalize } });
  }
  if (resource.plural === ServiceAccount.plural) {
    const subresources = { token: tokenSubresource(token) };
    return ServiceAccount.serve(objects.of(ServiceAccount), { verbs, admit: admit as never, subresources } as never);
  }
  if (resource === CoreEvent) return CoreEvent.serve(events(objects), options);
  if (resource !== Event) return resource.serve(objects.of(resource), options);
  const renamed = { read: eventOfCore as never, write: coreOfEvent as never };
  return Event.serve(converted({ from: events(objects), to: Event, ...renamed }), options);
}

function events(objects: ShardObjects): PersistentCollection {
  return objects.of(CoreEvent, { ttl: EVENT_TTL });
}
