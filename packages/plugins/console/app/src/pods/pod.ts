import type { Resource } from "../api/discovery.ts";
import type { WholeObject } from "../object/live-object.ts";

/** A part of the page of a pod, by the subresource that it needs. */
const PARTS = [
  ["logs", "log"],
  ["terminal", "exec"],
  ["ports", "portforward"],
] as const;

export type PodPartName = (typeof PARTS)[number][0];

/** The parts that the page of a pod has: those whose subresources the API serves. */
export function podPartsOf(resource: Resource | undefined): readonly PodPartName[] {
  if (resource?.resource !== "pods" || resource.group !== "") return [];
  return PARTS.filter(([, subresource]) => resource.subresources.includes(subresource)).map(([name]) => name);
}

export const isPodPart = (name: string): name is PodPartName => PARTS.some(([part]) => part === name);

interface ContainerState {
  readonly running?: { readonly startedAt?: string };
  readonly waiting?: { readonly reason?: string };
  readonly terminated?: { readonly reason?: string; readonly exitCode?: number };
}

interface ContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly state?: ContainerState;
}

interface ContainerSpec {
  readonly name: string;
  readonly ports?: readonly { readonly containerPort: number; readonly name?: string }[];
}

interface Pod {
  readonly metadata: WholeObject["metadata"];
  readonly spec?: Readonly<Record<"containers" | "initContainers" | "ephemeralContainers", readonly ContainerSpec[]>>;
  readonly status?: Readonly<
    Record<"containerStatuses" | "initContainerStatuses" | "ephemeralContainerStatuses", readonly ContainerStatus[]>
  >;
}

/** A container of a pod, with its state as far as the pod has it. */
export interface Container {
  readonly name: string;
  readonly isInit: boolean;
  readonly ports: readonly number[];
  /** `running`, `waiting` or `terminated`; "" if the pod does not say. */
  readonly state: string;
  /** Changes when the container starts again. */
  readonly start: string;
}

const KINDS = [
  ["containers", "containerStatuses"],
  ["initContainers", "initContainerStatuses"],
  ["ephemeralContainers", "ephemeralContainerStatuses"],
] as const;

/** The containers of a pod, those that it is for first. */
export function containersOf(object: WholeObject): readonly Container[] {
  const { spec, status } = object as unknown as Pod;
  return KINDS.flatMap(([kind, statuses]) =>
    (spec?.[kind] ?? []).map(({ name, ports = [] }) => {
      const { state = {}, restartCount = 0 } = status?.[statuses]?.find((one) => one.name === name) ?? {};
      return {
        name,
        isInit: kind === "initContainers",
        ports: ports.map(({ containerPort }) => containerPort),
        state: Object.keys(state)[0] ?? "",
        start: `${restartCount} ${state.running?.startedAt ?? ""}`,
      };
    }),
  );
}

const DEFAULT = "kubectl.kubernetes.io/default-container";

/** The container that kubectl would choose. */
export function defaultContainer(object: WholeObject): string {
  const containers = containersOf(object);
  const wanted = object.metadata.annotations?.[DEFAULT];
  return (containers.find(({ name }) => name === wanted) ?? containers[0])?.name ?? "";
}
