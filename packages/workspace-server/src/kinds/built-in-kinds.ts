import type { BuiltInKind } from "./built-in-kind.ts";
import { configMaps } from "./config-map.ts";
import { customResourceDefinitions } from "./custom-resource-definition.ts";
import { coreEvents } from "./event.ts";
import { events } from "./events-event.ts";
import { leases } from "./lease.ts";
import { namespaces } from "./namespace.ts";
import { rbacKinds } from "./rbac.ts";
import { resourceQuotas } from "./resource-quota.ts";
import { secrets } from "./secret.ts";
import { serviceAccounts } from "./service-account.ts";

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
