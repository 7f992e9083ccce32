import type { Discovery } from "../api/discovery.ts";
import { Lazy } from "../ui/lazy.tsx";

interface AccessPageProps {
  readonly workspace: string;
  readonly found: Discovery;
}

/** The page about access in a workspace. Its program is loaded when it is first shown. */
export function AccessPage({ workspace, found }: AccessPageProps) {
  return (
    <Lazy
      key={workspace}
      load={() => import("./access-page.tsx").then((module) => module.AccessPage)}
      with={{ workspace, found }}
    />
  );
}
