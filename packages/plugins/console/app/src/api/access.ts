import { useEffect, useState } from "preact/hooks";
import { workspacePath } from "./base.ts";
import { request } from "./client.ts";
import type { ObjectAddress } from "./objects.ts";

interface AccessReview {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

interface RulesReview {
  readonly status?: {
    readonly incomplete?: boolean;
    readonly resourceRules?: readonly {
      readonly verbs?: readonly string[];
      readonly apiGroups?: readonly string[];
      readonly resources?: readonly string[];
      readonly resourceNames?: readonly string[];
    }[];
  };
}

const path = (workspace: string, resource: string) =>
  `${workspacePath(workspace)}/apis/authorization.k8s.io/v1/${resource}`;

type Verb = "create" | "update" | "delete";

/** Whether the user may do something with an object. True until the server has answered, and if it cannot tell. */
export const useMay = (verb: Verb, address: ObjectAddress | undefined): boolean =>
  useDenial(verb, address) === undefined;

/** Why the user may not do something with an object or its subresource, "" without a reason. Undefined: the user may, or it is not known. */
export function useDenial(verb: Verb, address: ObjectAddress | undefined, subresource = ""): string | undefined {
  const [denial, setDenial] = useState<string>();
  useEffect(() => {
    setDenial(undefined);
    if (address === undefined) return undefined;
    const stop = new AbortController();
    const { group, version, resource } = address.resource;
    const { namespace, name } = address;
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb, group, version, resource, subresource, namespace, name } },
    };
    const options = { method: "POST", body, signal: stop.signal } as const;
    request<AccessReview>(path(address.workspace, "selfsubjectaccessreviews"), options).then(
      ({ status }) => setDenial(status?.allowed === false ? (status.reason ?? "") : undefined),
      () => undefined,
    );
    return () => stop.abort();
  }, [verb, address, subresource]);
  return denial;
}

/** Says which resources the user may list in a namespace. True for all if the server does not know all rules. */
export async function listableIn(
  workspace: string,
  namespace: string,
  stop: AbortSignal,
): Promise<(resource: { readonly group: string; readonly resource: string }) => boolean> {
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectRulesReview",
    spec: { namespace: namespace || "default" },
  };
  const options = { method: "POST", body, signal: stop } as const;
  const review = await request<RulesReview>(path(workspace, "selfsubjectrulesreviews"), options).catch(() => undefined);
  const { incomplete = true, resourceRules = [] } = review?.status ?? {};
  if (incomplete) return () => true;
  const has = (values: readonly string[] = [], value: string) => values.includes("*") || values.includes(value);
  return ({ group, resource }) =>
    resourceRules.some(
      (rule) =>
        has(rule.verbs, "list") &&
        has(rule.apiGroups, group) &&
        has(rule.resources, resource) &&
        (rule.resourceNames ?? []).length === 0,
    );
}
