import { apiExportView } from "@virtual-workspaces/apiexport";
import {
  LocalSubjectAccessReview,
  type Log,
  type Resource,
  SubjectAccessReview,
  TokenReview,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { builtInKinds, type Loopback } from "@virtual-workspaces/workspace-server";

const REVIEWS = [TokenReview, SubjectAccessReview, LocalSubjectAccessReview] as unknown as readonly Resource[];
const KINDS = [...builtInKinds.map(({ resource }) => resource), ...REVIEWS];

/** The views that kcp has itself, over the workspaces of one shard (`--run-virtual-workspaces`). */
export function kcpViews({ upstream, identity }: Loopback, log: Log): readonly VirtualWorkspace[] {
  const onError = (error: unknown): void =>
    log({ level: "warn", message: "the view of APIExports lacks something", error: String(error) });
  return [apiExportView({ upstream, identity, kinds: KINDS, onError })];
}
