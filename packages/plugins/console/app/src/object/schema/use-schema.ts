import { useEffect, useState } from "preact/hooks";
import type { ResourceId } from "../../api/base.ts";
import { type FieldSchema, readSchema } from "./schema.ts";

export interface FoundSchema {
  readonly isLoading: boolean;
  /** Undefined if the server publishes none: an editor works without. */
  readonly schema: FieldSchema | undefined;
}

/** The schema of a kind. */
export function useSchema(workspace: string, { group, version, resource }: ResourceId, kind: string): FoundSchema {
  const [found, setFound] = useState<FoundSchema>({ isLoading: true, schema: undefined });
  useEffect(() => {
    let isLast = true;
    const set = (schema: FieldSchema | undefined) => {
      if (isLast) setFound({ isLoading: false, schema });
    };
    if (kind !== "") readSchema(workspace, { group, version, resource }, kind).then(set, () => set(undefined));
    return () => {
      isLast = false;
    };
  }, [workspace, group, version, resource, kind]);
  return found;
}
