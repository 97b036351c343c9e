/** What a person does with sprints, as commands to the node. */

import type * as wire from "../../wire/types";
import type { SprintActions, SprintRequest } from "../sprints";
import type { Outcome } from "../types";

type SprintCommand = Extract<wire.Command, { type: "sprint" | "add_tasks" | "skip_task" | "halt" }>;
type WithoutId<T> = T extends wire.Command ? Omit<T, "id"> : never;

export function sprintActions(now: (command: WithoutId<SprintCommand>) => Promise<Outcome>): SprintActions {
  return {
    start: (worker: string, { tasks, verifier, review, commits, rounds, minutes }: SprintRequest) =>
      now({ type: "sprint", worker, tasks, verifier, review, commits, limits: { rounds, minutes } }),
    add: (worker, tasks) => now({ type: "add_tasks", worker, tasks }),
    skip: (worker) => now({ type: "skip_task", worker }),
    halt: (worker, atOnce) => now({ type: "halt", worker, now: atOnce }),
  };
}
