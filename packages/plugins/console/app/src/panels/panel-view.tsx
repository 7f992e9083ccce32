import "../object/object.css";
import "../kcp/kcp.css";
import "./panels.css";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { workspacePath } from "../api/base.ts";
import { session } from "../api/session.ts";
import { clusterOf } from "../api/types.ts";
import type { WholeObject } from "../object/live-object.ts";
import { logicalCluster } from "../workspaces/logical-cluster.ts";
import type { Panel } from "./panel-list.ts";
import { panelList } from "./panel-list.ts";
import { RunningPanel } from "./running-panel.ts";
import { texts } from "./texts.ts";

export interface PanelProps {
  readonly panel: Panel;
  readonly workspace: string;
  /** Of a panel for objects, live. */
  readonly object?: WholeObject | undefined;
}

/** A panel, in an element of its own. Its failure is shown in its place. */
export function PanelView({ panel, workspace, object }: PanelProps) {
  const [attempt, setAttempt] = useState(0);
  const own = logicalCluster(workspace).value;
  const [found] = own.items;
  // A panel begins with the workspace that it stays with.
  if (found === undefined && own.state === "loading") return <p class="muted">{texts.loading}</p>;
  const cluster = (found === undefined ? "" : clusterOf(found)) || workspace;
  return (
    <Mounted
      key={`${panel.module} ${attempt} ${cluster}`}
      {...{ panel, workspace, cluster, object, attempt }}
      onRetry={() => {
        panelList().peek().reload();
        setAttempt(attempt + 1);
      }}
    />
  );
}

interface MountedProps extends PanelProps {
  readonly cluster: string;
  readonly attempt: number;
  readonly onRetry: () => void;
}

function Mounted({ panel, workspace, cluster, object, attempt, onRetry }: MountedProps) {
  const place = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<{ readonly message: string; readonly place: string | undefined }>();
  const [isMounted, setMounted] = useState(false);
  const live = useSignal(object);
  useEffect(() => {
    live.value = object;
  }, [object]);
  useEffect(() => {
    const { current: element } = place;
    const { value } = session;
    if (element === null || value.state !== "signed-in") return undefined;
    const { username, groups } = value.acting ?? value.user;
    const running = new RunningPanel(
      {
        panel,
        workspace: { path: workspace, cluster },
        api: apiOf(panel, { workspace, cluster }),
        user: { username, ...(groups !== undefined && { groups }) },
        ...(object !== undefined && { object: live as Signal<WholeObject> }),
        ...("virtualWorkspace" in panel.for && {
          view: { name: panel.for.virtualWorkspace, ...(panel.path !== undefined && { path: panel.path }) },
        }),
      },
      (error) => {
        element.replaceChildren();
        setFailure({ message: error instanceof Error ? error.message : String(error), place: placeOf(error) });
      },
    );
    void running.mount(element, attempt).then(() => setMounted(true));
    return () => running.end();
  }, []);
  return (
    <div class="panel summary kcp">
      {!isMounted && failure === undefined && <p class="muted">{texts.loading}</p>}
      <div ref={place} data-panel={panel.name} />
      {failure !== undefined && (
        <div class="problem" role="alert">
          <strong>{texts.failed(panel.title)}</strong>
          <p>{failure.message}</p>
          {failure.place !== undefined && <p>{texts.at(failure.place)}</p>}
          <p class="hint">{texts.goesOn}</p>
          <button type="button" onClick={onRetry}>
            {texts.again}
          </button>
        </div>
      )}
    </div>
  );
}

/** Returns the file of a panel, with line and column, in which an error was thrown. */
function placeOf(error: unknown): string | undefined {
  return error instanceof Error
    ? /\/panels\/[^/]+\/[^/]+\/([^?\s)]+?)(?:\?\S*?)?(:\d+:\d+)/
        .exec(error.stack ?? "")
        ?.slice(1)
        .join("")
    : undefined;
}

/** Path of the API of a panel: that of its virtual workspace, if that needs no more than the logical cluster. */
function apiOf(
  { for: subject, path }: Panel,
  { workspace, cluster }: { readonly workspace: string; readonly cluster: string },
) {
  const filled = path?.replaceAll("{cluster}", encodeURIComponent(cluster)) ?? "{}";
  return "virtualWorkspace" in subject && !filled.includes("{") ? filled.slice(1) : workspacePath(workspace);
}
