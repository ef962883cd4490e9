//! What a process has cost so far: processor time, and how often its threads have woken.

use std::fs;

/// So far, or between two looks.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// User and system time in ticks of 1/100 s: fields 14 and 15 of /proc/PID/stat (proc_pid_stat(5)).
    pub ticks: u64,
    /// The same of the threads that live, exactly, where the kernel says so: /proc/PID/task/TID/schedstat.
    pub nanoseconds: u64,
    /// Voluntary switches of the threads that live: each sleep ended by a wake-up.
    pub wakeups: u64,
}

impl Cost {
    /// Of a process that lives.
    pub fn of(pid: u32) -> Cost {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
        // The name in brackets may hold anything; the state, field 3, comes first after it.
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = [14, 15].map(|field| fields[field - 3].parse::<u64>().expect("a number"));
        let mut cost = Cost {
            ticks: ticks.iter().sum(),
            nanoseconds: 0,
            wakeups: 0,
        };
        let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("it lives");
        for thread in threads.flatten() {
            // A thread may end meanwhile.
            let file = |name| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
            let number = |text: Option<&str>| text.and_then(|text| text.trim().parse().ok());
            let status = file("status");
            let switches = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            cost.wakeups += number(switches).unwrap_or(0);
            cost.nanoseconds += number(file("schedstat").split(' ').next()).unwrap_or(0);
        }
        cost
    }

    pub fn since(self, before: Cost) -> Cost {
        Cost {
            ticks: self.ticks.saturating_sub(before.ticks),
            nanoseconds: self.nanoseconds.saturating_sub(before.nanoseconds),
            wakeups: self.wakeups.saturating_sub(before.wakeups),
        }
    }
}
