import { Lazy } from "../ui/lazy.tsx";
import type { PanelProps } from "./panel-view.tsx";

/** A panel. The program that runs panels is loaded when the first one is shown. */
export function PanelPart(props: PanelProps) {
  const { panel, workspace, object } = props;
  return (
    <Lazy
      key={`${panel.name} ${workspace} ${object?.metadata.uid}`}
      load={() => import("./panel-view.tsx").then((module) => module.PanelView)}
      with={props}
    />
  );
}
