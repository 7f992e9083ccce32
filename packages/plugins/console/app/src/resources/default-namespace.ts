import { useEffect, useRef } from "preact/hooks";
import type { Resource } from "../api/discovery.ts";
import { session } from "../api/session.ts";
import type { TablePage } from "../api/table-query.ts";
import { route, setQuery } from "../route.ts";

/** Chooses a namespace, once, for a user who may not list the objects of all of them: that of a service account, else `default`. */
export function useDefaultNamespace({ state, error }: TablePage, resource: Resource | undefined): void {
  const isDone = useRef(false);
  const { namespace, all } = route.value.query;
  const isForbidden = state === "failed" && error?.code === 403;
  const isNeeded = isForbidden && resource?.isNamespaced === true && namespace === undefined && all !== "1";
  useEffect(() => {
    if (!isNeeded || isDone.current) return;
    isDone.current = true;
    setQuery({ namespace: ownNamespace() });
  }, [isNeeded]);
}

function ownNamespace(): string {
  const { value } = session;
  const user = value.state === "signed-in" ? (value.acting ?? value.user) : undefined;
  return /^system:serviceaccount:([^:]+):/.exec(user?.username ?? "")?.[1] ?? "default";
}
