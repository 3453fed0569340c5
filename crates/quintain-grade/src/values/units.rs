//! Units and words of scale that follow numbers.

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    Percent,
    Money,
    Time,
    Data,
    Length,
    Speed,
    Mass,
    Volume,
    Power,
    Frequency,
    Temperature,
}

/// A unit: its dimension and its size in the base unit of that dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub dimension: Dimension,
    pub size: f64,
}

const fn unit(dimension: Dimension, size: f64) -> Unit {
    Unit { dimension, size }
}

pub const PERCENT: Unit = unit(Dimension::Percent, 0.01);
pub const SPEED_KMH: Unit = unit(Dimension::Speed, 1.0 / 3.6);
pub const SPEED_MS: Unit = unit(Dimension::Speed, 1.0);
pub const MONEY: Unit = unit(Dimension::Money, 1.0);

/// The unit that a word or abbreviation means. Case matters for abbreviations of one letter only.
pub fn named(word: &str) -> Option<Unit> {
    use Dimension::{
        Data, Frequency, Length, Mass, Money, Percent, Power, Speed, Temperature, Time, Volume,
    };
    // `MB/s`
    if let Some(rate) = word.strip_suffix("/s") {
        return named(rate).filter(|unit| unit.dimension == Data);
    }
    let is_capital = word.len() == 1 && word != "B" && word.chars().all(char::is_uppercase);
    if word.len() > 12 || is_capital {
        return None;
    }
    let lower = word.to_lowercase();
    Some(match lower.as_str() {
        "percent" | "pct" | "percentage" => unit(Percent, 0.01),
        "basis" | "bps" | "bp" => unit(Percent, 0.0001),
        "usd" | "eur" | "gbp" | "chf" | "jpy" | "cny" | "inr" | "aud" | "cad" | "sek" | "nok"
        | "dkk" | "pln" | "brl" | "dollar" | "dollars" | "euro" | "euros" | "pound" | "pounds"
        | "yen" | "yuan" | "rupees" | "francs" | "bucks" | "元" | "円" => MONEY,
        "cent" | "cents" | "pence" | "ct" | "minor" => unit(Money, 0.01),
        "ns" | "nanoseconds" => unit(Time, 1e-9),
        "us" | "µs" | "microseconds" => unit(Time, 1e-6),
        "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => unit(Time, 0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => unit(Time, 1.0),
        "min" | "mins" | "minute" | "minutes" => unit(Time, 60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => unit(Time, 3600.0),
        "d" | "day" | "days" | "night" | "nights" => unit(Time, 86_400.0),
        "w" | "week" | "weeks" => unit(Time, 604_800.0),
        "fortnight" => unit(Time, 1_209_600.0),
        "byte" | "bytes" => unit(Data, 1.0),
        "kb" | "kbytes" | "kilobytes" => unit(Data, 1e3),
        "mb" | "mbytes" | "megabytes" => unit(Data, 1e6),
        "gb" | "gbytes" | "gigabytes" => unit(Data, 1e9),
        "tb" | "terabytes" => unit(Data, 1e12),
        "kbit" | "kbits" | "kbps" | "kilobits" => unit(Data, 125.0),
        "mbit" | "mbits" | "mbps" | "megabits" => unit(Data, 125e3),
        "gbit" | "gbits" | "gbps" | "gigabits" => unit(Data, 125e6),
        "kib" => unit(Data, 1024.0),
        "mib" => unit(Data, 1024.0 * 1024.0),
        "gib" => unit(Data, 1024.0 * 1024.0 * 1024.0),
        "tib" => unit(Data, 1024.0 * 1024.0 * 1024.0 * 1024.0),
        "mm" | "millimeters" | "millimetres" => unit(Length, 0.001),
        "cm" | "centimeters" | "centimetres" => unit(Length, 0.01),
        "meter" | "meters" | "metre" | "metres" => unit(Length, 1.0),
        "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => unit(Length, 1e3),
        "mi" | "mile" | "miles" => unit(Length, 1609.344),
        "ft" | "foot" | "feet" => unit(Length, 0.3048),
        "yd" | "yards" => unit(Length, 0.9144),
        "inch" | "inches" => unit(Length, 0.0254),
        "kmh" | "kph" => SPEED_KMH,
        "mph" => unit(Speed, 0.447_04),
        "mg" | "milligrams" => unit(Mass, 1e-6),
        "g" | "gram" | "grams" => unit(Mass, 1e-3),
        "kg" | "kgs" | "kilogram" | "kilograms" | "kilo" | "kilos" => unit(Mass, 1.0),
        "tonne" | "tonnes" | "tons" => unit(Mass, 1e3),
        "lb" | "lbs" => unit(Mass, 0.453_592_37),
        "oz" | "ounces" => unit(Mass, 0.028_349_523_125),
        "ml" | "milliliters" | "millilitres" => unit(Volume, 0.001),
        "cl" => unit(Volume, 0.01),
        "l" | "liter" | "liters" | "litre" | "litres" => unit(Volume, 1.0),
        "kw" | "kilowatts" | "kwh" => unit(Power, 1e3),
        "mw" | "megawatts" | "mwh" => unit(Power, 1e6),
        "gw" | "gigawatts" | "gwh" => unit(Power, 1e9),
        "watt" | "watts" | "wh" => unit(Power, 1.0),
        "hz" => unit(Frequency, 1.0),
        "khz" => unit(Frequency, 1e3),
        "mhz" => unit(Frequency, 1e6),
        "ghz" => unit(Frequency, 1e9),
        "celsius" | "fahrenheit" | "degrees" | "degree" | "kelvin" => unit(Temperature, 1.0),
        "m" if word == "m" => unit(Length, 1.0),
        "b" if word == "B" => unit(Data, 1.0),
        _ => return None,
    })
}

/// The factor that a word of scale means: `2.5k`, `3 million`.
pub fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "k" | "K" | "thousand" | "thousands" | "tsd" => 1e3,
        "M" | "m" | "mn" | "mio" | "Mio" | "million" | "millions" | "MM" => 1e6,
        "B" | "b" | "bn" | "Bn" | "BN" | "billion" | "billions" | "G" | "mrd" | "Mrd" => 1e9,
        "T" | "tn" | "trillion" | "trillions" => 1e12,
        "hundred" | "hundreds" => 100.0,
        "dozen" => 12.0,
        "lakh" => 1e5,
        "crore" => 1e7,
        _ => return None,
    })
}

/// The unit that the name of an argument or field ends with: `amount_cents`, `durationMs`, `distance_km`.
pub fn of_key(key: &str) -> Option<Unit> {
    let words = quintain_evidence::lexicon::words(key);
    let last = words.last()?;
    // Abbreviations of one letter are names of variables, not units, unless the name says what is measured.
    let measures =
        ["weight", "mass", "distance", "length", "height", "width", "duration", "volume"];
    if let [.., measured, unit] = words.as_slice()
        && measures.contains(&measured.as_str())
        && matches!(unit.as_str(), "g" | "m" | "l" | "s" | "h")
    {
        return named(unit);
    }
    // `mbit_s`, `mb_per_second`
    let rate = match words.as_slice() {
        [.., amount, per, _] if per == "per" => Some(amount),
        [.., amount, second] if second == "s" => Some(amount),
        _ => None,
    };
    let rate =
        rate.and_then(|amount| named(amount)).filter(|unit| unit.dimension == Dimension::Data);
    if rate.is_some() {
        return rate;
    }
    if words.len() > 1 && last.len() > 1 || last.len() > 4 { named(last) } else { None }
}

/// By how much numbers of one dimension may differ if only one of them names its unit.
pub fn factors(dimension: Dimension) -> &'static [f64] {
    use Dimension::{
        Data, Frequency, Length, Mass, Money, Percent, Power, Speed, Temperature, Time, Volume,
    };
    const K: f64 = 1024.0;
    match dimension {
        Percent => &[1.0, 0.01],
        Money => &[1.0, 100.0, 1e-3, 1e-6, 1e-9],
        Time => &[
            1.0,
            1e3,
            1e-3,
            1e6,
            1e9,
            60.0,
            3600.0,
            86_400.0,
            60e3,
            3.6e6,
            86.4e6,
            1.0 / 60.0,
            1.0 / 3600.0,
            24.0,
            1440.0,
            7.0,
            1.0 / 24.0,
            1.0 / 7.0,
            604_800.0,
            168.0,
            10_080.0,
        ],
        Data => &[
            1.0,
            1e3,
            1e6,
            1e9,
            1e12,
            1e-3,
            1e-6,
            1e-9,
            K,
            K * K,
            K * K * K,
            K * K * K * K,
            1.0 / K,
            1.0 / (K * K),
        ],
        Length => &[
            1.0, 1e3, 1e-3, 100.0, 0.01, 10.0, 0.1, 1e6, 1.609_344, 1609.344, 0.621_371, 3.28084,
            0.3048,
        ],
        Speed => &[1.0, 3.6, 1.0 / 3.6, 1.609_344, 0.621_371, 2.236_94, 0.447_04],
        Mass => &[1.0, 1e3, 1e-3, 1e6, 0.453_592, 2.204_62],
        Volume | Power | Frequency => &[1.0, 1e3, 1e-3, 1e6, 1e-6, 1e9],
        Temperature => &[1.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_words_and_keys_name_units() {
        assert_eq!(named("min").map(|unit| unit.size), Some(60.0));
        assert_eq!(named("KB"), named("kilobytes"));
        assert!(named("B").is_some() && named("b").is_none() && named("pages").is_none());
        assert_eq!(of_key("amount_cents").map(|unit| unit.size), Some(0.01));
        assert_eq!(of_key("durationMs").map(|unit| unit.dimension), Some(Dimension::Time));
        assert_eq!(of_key("s"), None);
        assert_eq!(of_key("m"), None);
        assert_eq!(scale("million"), Some(1e6));
    }
}
