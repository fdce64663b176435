import type { Type } from 'typebox';
import type { TypedResource } from '../meta.ts';
import { duration, fields, timestamp } from '../schema.ts';

/** ScheduleClock.spec (spec, "ScheduleClock"). */
export const scheduleClockSpecSchema = fields(
  { interval: duration('The tick at which gates are evaluated again.', { default: '1m' }) },
  'The clock of the gates.',
);
/** ScheduleClock.status. */
export const scheduleClockStatusSchema = fields({ lastTick: timestamp('The last tick.') }, 'The last tick.');

export type ScheduleClockSpec = Type.Static<typeof scheduleClockSpecSchema>;
export type ScheduleClockStatus = Type.Static<typeof scheduleClockStatusSchema>;
/** The clock at whose ticks gates are evaluated again. */
export type ScheduleClock = TypedResource<'ScheduleClock', ScheduleClockSpec, ScheduleClockStatus>;
