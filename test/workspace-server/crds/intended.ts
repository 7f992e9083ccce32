// Where we say something else than Kubernetes, and mean it.
import type { Verdict } from "./judge.ts";

export const INTENDED: Readonly<Record<string, Verdict>> = {};
