import { useMemo } from "preact/hooks";
import { useMay } from "../../api/access.ts";
import type { ResourceId } from "../../api/base.ts";
import { texts } from "../texts.ts";

interface NotAllowedProps {
  readonly workspace: string;
  readonly id: ResourceId;
  readonly namespace?: string;
}

/** Says that the user may not create what a dialog makes, before the user fills in the dialog. */
export function NotAllowed({ workspace, id, namespace = "" }: NotAllowedProps) {
  const address = useMemo(() => ({ workspace, resource: id, namespace, name: "" }), [workspace, id, namespace]);
  if (useMay("create", address)) return null;
  const { group, resource } = id;
  return (
    <p class="not-allowed" role="status">
      {texts.notAllowed(group === "" ? resource : `${resource}.${group}`)}
    </p>
  );
}
