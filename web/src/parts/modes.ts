/** What a worker may do without asking, in words. */

import type { Mode } from "../state/types";
import type { TextKey } from "../texts";

export const MODES: readonly Mode[] = ["default", "auto_edit", "plan", "yolo"];

export const MODE_TEXTS: Readonly<Record<Mode, TextKey>> = {
  default: "modeDefault",
  auto_edit: "modeAutoEdit",
  plan: "modePlan",
  yolo: "modeYolo",
};

export const MODE_MEANINGS: Readonly<Record<Mode, TextKey>> = {
  default: "modeDefaultMeans",
  auto_edit: "modeAutoEditMeans",
  plan: "modePlanMeans",
  yolo: "modeYoloMeans",
};
