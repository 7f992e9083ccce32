import { customResourceDefinitions } from "./apiextensions/custom-resource-definition.ts";
import type { BuiltInKind } from "./built-in-kind.ts";
import { leases } from "./coordination/lease.ts";
import { configMaps } from "./core/config-map.ts";
import { coreEvents } from "./core/event.ts";
import { events } from "./core/events-event.ts";
import { namespaces } from "./core/namespace.ts";
import { resourceQuotas } from "./core/resource-quota.ts";
import { secrets } from "./core/secret.ts";
import { serviceAccounts } from "./core/service-account.ts";
import { rbacKinds } from "./rbac/kinds.ts";

/**
 * Kubernetes' own kinds that are kept, as a kcp workspace serves them, in the order of its discovery. Events are there twice:
 * `events.k8s.io` are the core group's, converted. What is only created is none of them.
 */
export const builtInKinds: readonly BuiltInKind[] = [
  configMaps,
  coreEvents,
  namespaces,
  resourceQuotas,
  secrets,
  serviceAccounts,
  leases,
  ...rbacKinds,
  events,
  customResourceDefinitions,
];
