/** Selects requests: all members that are set must be equal. Without members, every request matches. */
export interface RequestMatch {
  /** Kubernetes' verb, such as `get`, `list`, `watch`, `create`, `update`, `patch` or `delete`. @default any */
  readonly verb?: string;
  /** API group, "" for the core group. @default any */
  readonly group?: string;
  /** Plural of the kind, with a subresource as in RBAC: `widgets`, `widgets/status`. @default any */
  readonly resource?: string;
  /** Namespace, "" for requests about all namespaces or none. @default any */
  readonly namespace?: string;
  /** Name of the object. @default any */
  readonly name?: string;
  /** User name, after impersonation. @default any */
  readonly user?: string;
}

/** Whether a request matches. */
export function isMatch(request: Required<RequestMatch>, match: RequestMatch): boolean {
  return (["verb", "group", "resource", "namespace", "name", "user"] as const).every(
    (field) => match[field] === undefined || match[field] === request[field],
  );
}

/** Formats the members that are set, for messages. */
export function describeMatch({ verb, group, resource, namespace, name, user }: RequestMatch): string {
  const parts = Object.entries({ verb, group, resource, namespace, name, user }).filter(
    ([, value]) => value !== undefined,
  );
  return parts.length === 0
    ? "any request"
    : parts.map(([field, value]) => `${field} ${JSON.stringify(value)}`).join(", ");
}
