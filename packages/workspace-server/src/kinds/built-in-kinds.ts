import type { BuiltInKind } from "./built-in-kind.ts";
import { certificateSigningRequests } from "./certificate-signing-request.ts";
import { configMaps } from "./config-map.ts";
import { customResourceDefinitions } from "./custom-resource-definition.ts";
import { coreEvents } from "./event.ts";
import { events } from "./events-event.ts";
import { leases } from "./lease.ts";
import { namespaces } from "./namespace.ts";
import { policyKinds } from "./policy-kinds.ts";
import { rbacKinds } from "./rbac.ts";
import { resourceQuotas } from "./resource-quota.ts";
import { secrets } from "./secret.ts";
import { serviceAccounts } from "./service-account.ts";
import { webhookConfigurations } from "./webhook-configuration.ts";

/**
 * Kubernetes' own kinds that are stored, as a kcp workspace serves them, in discovery order. Events appear twice:
 * `events.k8s.io` converts those of the core group. Kinds that are only created, such as reviews, are not included.
 */
export const builtInKinds: readonly BuiltInKind[] = [
  configMaps,
  coreEvents,
  namespaces,
  resourceQuotas,
  secrets,
  serviceAccounts,
  certificateSigningRequests,
  leases,
  ...rbacKinds,
  ...webhookConfigurations,
  ...policyKinds,
  events,
  customResourceDefinitions,
];
